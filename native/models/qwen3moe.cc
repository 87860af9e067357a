// Qwen 3 with experts: Qwen 3's attention, and a router before many small feed-forwards.
#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

class Qwen3Moe : public Architecture {
  public:
    const char * name() const override { return "qwen3moe"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NEOX; }
    void read(const HeaderReader & r, Hparams & hp) const override { read_experts(r, hp); }

    std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const override {
        auto specs = attention_tensors(hp, layer);
        add_head_norms(specs, hp, layer);
        add_experts(specs, hp, layer);
        return specs;
    }
};

}  // namespace

std::unique_ptr<Architecture> make_qwen3moe() { return std::make_unique<Qwen3Moe>(); }

}  // namespace kvasir
