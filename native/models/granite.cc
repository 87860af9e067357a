// Granite 3 and 4 (dense): Llama's layers with multipliers on embeddings, residuals, scores and logits.
#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

class Granite : public Architecture {
  public:
    const char * name() const override { return "granite"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NORMAL; }
    bool scales_rope_frequencies() const override { return true; }

    void read(const HeaderReader & r, Hparams & hp) const override {
        // Headers use zero for an absent multiplier.
        const auto multiplier = [&](const char * key, float fallback) {
            const float v = r.real(key, 0, 0, 1e6f);
            return v == 0 ? fallback : v;
        };
        hp.logit_scale = 1 / r.real("logit_scale", 1, 1e-6f, 1e6f);
        hp.residual_scale = multiplier("residual_scale", 1);
        hp.embedding_scale = multiplier("embedding_scale", 1);
        hp.attention_scale = multiplier("attention.scale", hp.attention_scale);
        // Granite's headers turn RoPE off with this switch.
        if (!r.flag("rope.scaling.finetuned", true))
            for (LayerShape & layer : hp.layers) layer.rope = -1;
    }
};

}  // namespace

std::unique_ptr<Architecture> make_granite() { return std::make_unique<Granite>(); }

}  // namespace kvasir
