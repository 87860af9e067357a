// Qwen 3 (dense): RMS norm on every query and key head before RoPE on split halves. Keys are stored after that norm.
#include "models/blocks.h"

namespace kvasir {

namespace {

using namespace blocks;

class Qwen3 : public Architecture {
  public:
    const char * name() const override { return "qwen3"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NEOX; }
    std::string unsupported(const GgufFile &) const override { return ""; }

    std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const override {
        auto specs = standard_tensors(hp, layer);
        add_qkv_bias(specs, hp, layer, false);
        const std::string p = "blk." + std::to_string(layer) + ".";
        specs.push_back({p + "attn_q_norm.weight", {hp.head_dim}, &LayerWeights::q_norm});
        specs.push_back({p + "attn_k_norm.weight", {hp.head_dim}, &LayerWeights::k_norm});
        return specs;
    }

    ggml_tensor * attention_input(ggml_context * c, const Hparams & hp, const LayerWeights & w, ggml_tensor * x) const override {
        return rms_norm(c, x, w.attn_norm, hp.rms_eps);
    }
    ggml_tensor * query(ggml_context * c, const Hparams & hp, const LayerWeights & w, ggml_tensor * h) const override {
        return rms_norm(c, heads(c, linear(c, w.wq, w.bq, h), hp.head_dim), w.q_norm, hp.rms_eps);
    }
    ggml_tensor * key(ggml_context * c, const Hparams & hp, const LayerWeights & w, ggml_tensor * h) const override {
        return rms_norm(c, heads(c, linear(c, w.wk, w.bk, h), hp.head_dim), w.k_norm, hp.rms_eps);
    }
    ggml_tensor * value(ggml_context * c, const Hparams &, const LayerWeights & w, ggml_tensor * h) const override {
        return linear(c, w.wv, w.bv, h);
    }
    ggml_tensor * output(ggml_context * c, const Hparams & hp, const LayerWeights & w, ggml_tensor * attn, ggml_tensor * x) const override {
        return output_and_ffn(c, hp, w, attn, x);
    }
};

}  // namespace

std::unique_ptr<Architecture> make_qwen3() { return std::make_unique<Qwen3>(); }

}  // namespace kvasir
