// SmolLM 3: Llama's layers; every fourth does not rotate its queries and keys.
#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

class SmolLm3 : public Architecture {
  public:
    const char * name() const override { return "smollm3"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NORMAL; }

    void read(const HeaderReader &, Hparams & hp) const override {
        for (size_t il = 3; il < hp.layers.size(); il += 4) hp.layers[il].rope = -1;
    }
};

}  // namespace

std::unique_ptr<Architecture> make_smollm3() { return std::make_unique<SmolLm3>(); }

}  // namespace kvasir
