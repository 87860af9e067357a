// Llama 2/3, Mistral (without sliding window), Yi, SmolLM: pre-norm, RoPE on interleaved pairs, SwiGLU.
#include "models/blocks.h"

namespace kvasir {

namespace {

using namespace blocks;

class Llama : public Architecture {
  public:
    const char * name() const override { return "llama"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NORMAL; }

    std::string unsupported(const GgufFile & file) const override {
        if (file.integer("llama.expert_count").value_or(0) > 0) return "it is a mixture of experts, which is not supported yet";
        return "";
    }

    std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const override {
        auto specs = standard_tensors(hp, layer);
        add_qkv_bias(specs, hp, layer, false);
        specs.push_back({"blk." + std::to_string(layer) + ".attn_output.bias", {hp.n_embd}, &LayerWeights::bo, false});
        return specs;
    }

    ggml_tensor * attention_input(ggml_context * c, const Hparams & hp, const LayerWeights & w, ggml_tensor * x) const override {
        return rms_norm(c, x, w.attn_norm, hp.rms_eps);
    }
    ggml_tensor * query(ggml_context * c, const Hparams & hp, const LayerWeights & w, ggml_tensor * h) const override {
        return heads(c, linear(c, w.wq, w.bq, h), hp.head_dim);
    }
    ggml_tensor * key(ggml_context * c, const Hparams & hp, const LayerWeights & w, ggml_tensor * h) const override {
        return heads(c, linear(c, w.wk, w.bk, h), hp.head_dim);
    }
    ggml_tensor * value(ggml_context * c, const Hparams &, const LayerWeights & w, ggml_tensor * h) const override {
        return linear(c, w.wv, w.bv, h);
    }
    ggml_tensor * output(ggml_context * c, const Hparams & hp, const LayerWeights & w, ggml_tensor * attn, ggml_tensor * x) const override {
        return output_and_ffn(c, hp, w, attn, x);
    }
};

}  // namespace

std::unique_ptr<Architecture> make_llama() { return std::make_unique<Llama>(); }

}  // namespace kvasir
