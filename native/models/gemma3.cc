// Gemma 3: sliding windows in five of six layers, with separate RoPE parameters; norms before and after each half of a
// layer and on every query and key head; GELU; embeddings scaled by √n_embd.
#include <cmath>

#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

constexpr int kPeriod = 6;
constexpr int kLayersOf27B = 62;

class Gemma3 : public Architecture {
  public:
    const char * name() const override { return "gemma3"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NEOX; }

    void read(const HeaderReader & r, Hparams & hp) const override {
        hp.activation = Activation::gelu;
        hp.embedding_scale = std::sqrt(float(hp.n_embd));
        hp.logit_softcap = r.real("final_logit_softcapping", 0, 0, 1e6f);
        // The largest model scales by the width of all heads together.
        if (hp.n_layer == kLayersOf27B) hp.attention_scale = 1 / std::sqrt(float(hp.n_embd) / float(hp.n_head));
        if (!read_window(r, hp, kPeriod)) return;
        RopeParams near = hp.ropes.front();
        near.freq_base = r.real("rope.freq_base_swa", 10000, 1, 1e15f);
        near.freq_scale = near.attn_factor = 1, near.ext_factor = 0;
        use_in_windows(hp, std::move(near));
    }

    std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const override {
        auto specs = Architecture::layer_tensors(hp, layer);
        add_head_norms(specs, hp, layer);
        add_post_norms(specs, hp, layer);
        return specs;
    }
};

}  // namespace

std::unique_ptr<Architecture> make_gemma3() { return std::make_unique<Gemma3>(); }

}  // namespace kvasir
