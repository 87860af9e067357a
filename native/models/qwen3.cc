// Qwen 3 (dense): RMS norm on every query and key head before RoPE on split halves. Keys are stored after that norm.
#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

class Qwen3 : public Architecture {
  public:
    const char * name() const override { return "qwen3"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NEOX; }

    std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const override {
        auto specs = Architecture::layer_tensors(hp, layer);
        add_head_norms(specs, hp, layer);
        return specs;
    }
};

}  // namespace

std::unique_ptr<Architecture> make_qwen3() { return std::make_unique<Qwen3>(); }

}  // namespace kvasir
