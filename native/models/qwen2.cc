// Qwen 2 and 2.5 (dense): biases on Q, K and V; RoPE on split halves.
#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

class Qwen2 : public Architecture {
  public:
    const char * name() const override { return "qwen2"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NEOX; }

    std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const override {
        auto specs = Architecture::layer_tensors(hp, layer);
        for (TensorSpec & s : specs)
            if (s.slot == &LayerWeights::bq || s.slot == &LayerWeights::bk || s.slot == &LayerWeights::bv) {
                s.required = true;
            }
        return specs;
    }
};

}  // namespace

std::unique_ptr<Architecture> make_qwen2() { return std::make_unique<Qwen2>(); }

}  // namespace kvasir
