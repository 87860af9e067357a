// GLM 4.5 and 4.6: experts, chosen by sigmoid scores plus a bias per expert, in addition to shared ones; the first
// layers are dense. A part of each head is rotated; the large models have norms on heads.
#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

// llama.cpp's numbering.
constexpr int kSoftmax = 1, kSigmoid = 2;

class Glm4Moe : public Architecture {
  public:
    const char * name() const override { return "glm4moe"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NEOX; }

    void read(const HeaderReader & r, Hparams & hp) const override {
        read_experts(r, hp);
        hp.experts.gating = r.count("expert_gating_func", kSigmoid, kSigmoid) == kSoftmax ? Gating::softmax
                                                                                        : Gating::sigmoid;
        hp.experts.normalised = r.flag("expert_weights_norm", false);
        hp.experts.shared = r.optional_count("expert_shared_count", 64);
        hp.experts.dense_layers = r.optional_count("leading_dense_block_count", uint64_t(hp.n_layer));
        hp.n_layer_draft = r.optional_count("nextn_predict_layers", uint64_t(hp.n_layer - 1));
        hp.n_layer -= hp.n_layer_draft;
        hp.layers.resize(size_t(hp.n_layer));
    }

    std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const override {
        const auto name = [&](const char * weight) { return layer_tensor_name(layer, weight); };
        const int64_t d = hp.n_embd, n = hp.experts.count, shared = int64_t(hp.experts.n_ff) * hp.experts.shared;
        auto specs = attention_tensors(hp, layer);
        add_head_norms(specs, hp, layer);
        for (TensorSpec & s : specs)
            if (s.slot == &LayerWeights::q_norm || s.slot == &LayerWeights::k_norm) s.required = false;
        if (layer < hp.experts.dense_layers) {
            specs.push_back({"", {d}, &LayerWeights::ffn_norm});
            add_feed_forward(specs, hp, layer);
        } else {
            add_experts(specs, hp, layer);
            specs.push_back({name("exp_probs_b.bias"), {n}, &LayerWeights::choice_bias});
            if (shared) {
                specs.push_back({name("ffn_gate_shexp.weight"), {d, shared}, &LayerWeights::gate});
                specs.push_back({name("ffn_up_shexp.weight"), {d, shared}, &LayerWeights::up});
                specs.push_back({name("ffn_down_shexp.weight"), {shared, d}, &LayerWeights::down});
            }
        }
        for (TensorSpec & s : specs)
            if (s.slot == &LayerWeights::ffn_norm) s.name = name("post_attention_norm.weight");
        return specs;
    }
};

}  // namespace

std::unique_ptr<Architecture> make_glm4moe() { return std::make_unique<Glm4Moe>(); }

}  // namespace kvasir
