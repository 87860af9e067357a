// Llama 2/3, Mistral (without sliding window), Yi, SmolLM: RoPE on interleaved pairs.
#include "engine/architecture.h"

namespace kvasir {

namespace {

class Llama : public Architecture {
  public:
    const char * name() const override { return "llama"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NORMAL; }

    std::string unsupported(const GgufFile & file) const override {
        if (file.integer("llama.expert_count").value_or(0) == 0) return "";
        return "it is a mixture of experts, which is not supported yet";
    }
};

}  // namespace

std::unique_ptr<Architecture> make_llama() { return std::make_unique<Llama>(); }

}  // namespace kvasir
