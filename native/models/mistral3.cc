// Ministral 3, Mistral Small 3: Llama's layers; YaRN with an extra multiplier, and queries that grow with their
// position (Llama 4's temperature tuning).
#include <cmath>

#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

class Mistral3 : public Architecture {
  public:
    const char * name() const override { return "mistral3"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NORMAL; }
    bool scales_rope_frequencies() const override { return true; }

    void read(const HeaderReader & r, Hparams & hp) const override {
        RopeParams & rope = hp.ropes.front();
        // YaRN's factor is 0.1 · ln(s) + 1; these models divide it by the same expression with a multiplier (DeepSeek's
        // mscale).
        const float multiplier = r.real("rope.scaling.yarn_log_multiplier", 0, 0, 100);
        if (rope.freq_scale < 1) rope.attn_factor /= 0.1f * multiplier * std::log(1 / rope.freq_scale) + 1;
        hp.temperature.scale = r.real("attention.temperature_scale", 0, 0, 100);
        hp.temperature.length = rope.n_ctx_orig;
    }
};

}  // namespace

std::unique_ptr<Architecture> make_mistral3() { return std::make_unique<Mistral3>(); }

}  // namespace kvasir
