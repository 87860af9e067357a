// OLMo 2 and 3: norms after attention and feed-forward instead of before them, and on all query heads and all key heads
// together. OLMo 3 has sliding windows in three of four layers, whose RoPE is not scaled.
#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

constexpr int kPeriod = 4;

class Olmo2 : public Architecture {
  public:
    const char * name() const override { return "olmo2"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NEOX; }

    void read(const HeaderReader & r, Hparams & hp) const override {
        if (!read_window(r, hp, kPeriod)) return;
        RopeParams plain = hp.ropes.front();
        plain.freq_scale = plain.attn_factor = 1, plain.ext_factor = 0;
        use_in_windows(hp, std::move(plain));
    }

    std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const override {
        auto specs = attention_tensors(hp, layer);
        std::erase_if(specs, [](const TensorSpec & s) { return s.slot == &LayerWeights::attn_norm; });
        const LayerShape & shape = hp.layer(layer);
        specs.push_back({layer_tensor_name(layer, "attn_q_norm.weight"), {shape.q_dim()}, &LayerWeights::q_norm});
        specs.push_back({layer_tensor_name(layer, "attn_k_norm.weight"), {shape.kv_dim()}, &LayerWeights::k_norm});
        add_post_norms(specs, hp, layer);
        add_feed_forward(specs, hp, layer);
        return specs;
    }
};

}  // namespace

std::unique_ptr<Architecture> make_olmo2() { return std::make_unique<Olmo2>(); }

}  // namespace kvasir
