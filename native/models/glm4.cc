// GLM 4: norms before and after each half of a layer; gate and up in one matrix; only a part of each head is rotated.
#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

class Glm4 : public Architecture {
  public:
    const char * name() const override { return "glm4"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NORMAL; }

    std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const override {
        auto specs = attention_tensors(hp, layer);
        add_post_norms(specs, hp, layer);
        specs.push_back({layer_tensor_name(layer, "ffn_norm.weight"), {hp.n_embd}, &LayerWeights::ffn_norm});
        add_fused_feed_forward(specs, hp, layer);
        return specs;
    }
};

}  // namespace

std::unique_ptr<Architecture> make_glm4() { return std::make_unique<Glm4>(); }

}  // namespace kvasir
