// gpt-oss: sliding windows in every other layer, a learned sink for each head, biases everywhere, experts with a
// clamped SwiGLU.
#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

constexpr int kPeriod = 2;

class GptOss : public Architecture {
  public:
    const char * name() const override { return "gpt-oss"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NEOX; }

    void read(const HeaderReader & r, Hparams & hp) const override {
        read_experts(r, hp);
        hp.experts.gating = Gating::softmax_of_chosen;
        hp.experts.normalised = false;  // they sum to 1 already
        hp.activation = Activation::clamped_silu;
        read_window(r, hp, kPeriod);
    }

    std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const override {
        const auto name = [&](const char * weight) { return layer_tensor_name(layer, weight); };
        const int64_t d = hp.n_embd, ff = hp.experts.n_ff, n = hp.experts.count;
        auto specs = attention_tensors(hp, layer);
        add_experts(specs, hp, layer);
        for (TensorSpec & s : specs)
            if (s.slot == &LayerWeights::ffn_norm) s.name = name("post_attention_norm.weight");
        specs.push_back({name("attn_sinks.weight"), {hp.layer(layer).n_head}, &LayerWeights::sinks});
        specs.push_back({name("ffn_gate_inp.bias"), {n}, &LayerWeights::router_bias});
        specs.push_back({name("ffn_gate_exps.bias"), {ff, n}, &LayerWeights::gate_biases});
        specs.push_back({name("ffn_up_exps.bias"), {ff, n}, &LayerWeights::up_biases});
        specs.push_back({name("ffn_down_exps.bias"), {d, n}, &LayerWeights::down_biases});
        return specs;
    }
};

}  // namespace

std::unique_ptr<Architecture> make_gpt_oss() { return std::make_unique<GptOss>(); }

}  // namespace kvasir
