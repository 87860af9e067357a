// Llama 2/3, Mistral (without sliding window), Yi, SmolLM: RoPE on interleaved pairs.
#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

class Llama : public Architecture {
  public:
    const char * name() const override { return "llama"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NORMAL; }
    bool scales_rope_frequencies() const override { return true; }
};

}  // namespace

std::unique_ptr<Architecture> make_llama() { return std::make_unique<Llama>(); }

}  // namespace kvasir
