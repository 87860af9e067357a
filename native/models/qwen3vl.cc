// Qwen 3 VL, text part: Qwen 3. RoPE in sections equals plain RoPE if all positions of a token are the same, and what
// images add between layers is zero for text. (llama.cpp leaves the last two pairs of published files unrotated, which
// rotate by thousandths of a radian within 8,000 tokens; the model's reference code rotates them, and so do we.)
#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

class Qwen3Vl : public Architecture {
  public:
    const char * name() const override { return "qwen3vl"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NEOX; }

    void read(const HeaderReader & r, Hparams &) const override {
        r.pass_over("rope.dimension_sections");
        r.pass_over("n_deepstack_layers");
    }

    std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const override {
        auto specs = Architecture::layer_tensors(hp, layer);
        add_head_norms(specs, hp, layer);
        return specs;
    }
};

}  // namespace

std::unique_ptr<Architecture> make_qwen3vl() { return std::make_unique<Qwen3Vl>(); }

}  // namespace kvasir
