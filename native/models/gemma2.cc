// Gemma 2: sliding windows in every other layer; capped scores and logits; norms before and after each half of a layer;
// GELU; embeddings scaled by √n_embd.
#include <cmath>

#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

constexpr int kPeriod = 2, kWindow = 4096;  // defaults for older files, which omit them
constexpr int kLayersOf27B = 46;

class Gemma2 : public Architecture {
  public:
    const char * name() const override { return "gemma2"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NEOX; }

    void read(const HeaderReader & r, Hparams & hp) const override {
        hp.activation = Activation::gelu;
        hp.embedding_scale = std::sqrt(float(hp.n_embd));
        hp.attention_softcap = r.real("attn_logit_softcapping", 50, 0, 1e6f);
        hp.logit_softcap = r.real("final_logit_softcapping", 30, 0, 1e6f);
        // The largest model scales by the width of all heads together.
        if (hp.n_layer == kLayersOf27B) hp.attention_scale = 1 / std::sqrt(float(hp.n_embd) / float(hp.n_head));
        read_window(r, hp, kPeriod, kWindow);
    }

    std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const override {
        auto specs = Architecture::layer_tensors(hp, layer);
        add_post_norms(specs, hp, layer);
        return specs;
    }
};

}  // namespace

std::unique_ptr<Architecture> make_gemma2() { return std::make_unique<Gemma2>(); }

}  // namespace kvasir
