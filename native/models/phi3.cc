// Phi 3 and 4 (dense): Q, K and V in one matrix, gate and up in another; a part of each head is rotated. Their headers
// may name a sliding window, which llama.cpp ignores as well: files name one even for models that have none.
#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

class Phi3 : public Architecture {
  public:
    const char * name() const override { return "phi3"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NEOX; }
    bool scales_rope_by_length() const override { return true; }
    void read(const HeaderReader & r, Hparams &) const override { r.pass_over("attention.sliding_window"); }

    std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const override {
        const auto name = [&](const char * weight) { return layer_tensor_name(layer, weight); };
        const int64_t d = hp.n_embd, q = hp.layer(layer).q_dim(), kv = hp.layer(layer).kv_dim(), all = q + 2 * kv;
        std::vector<TensorSpec> specs{
            {name("attn_norm.weight"), {d}, &LayerWeights::attn_norm},
            {name("attn_qkv.weight"), {d, q}, &LayerWeights::wq, true, {0, all}},
            {name("attn_qkv.weight"), {d, kv}, &LayerWeights::wk, true, {q, all}},
            {name("attn_qkv.weight"), {d, kv}, &LayerWeights::wv, true, {q + kv, all}},
            {name("attn_output.weight"), {q, d}, &LayerWeights::wo},
            {name("ffn_norm.weight"), {d}, &LayerWeights::ffn_norm},
        };
        add_fused_feed_forward(specs, hp, layer);
        return specs;
    }
};

}  // namespace

std::unique_ptr<Architecture> make_phi3() { return std::make_unique<Phi3>(); }

}  // namespace kvasir
