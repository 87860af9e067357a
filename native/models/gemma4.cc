// Gemma 4: sliding windows in most layers, with different heads and RoPE parameters; the last layers read keys and
// values of earlier ones; values are normalised, and a layer without value weights uses its keys before norm and RoPE.
// The small models give each layer a separate input; the mixture of experts has a dense feed-forward in parallel.
#include <cmath>

#include "engine/error.h"
#include "engine/graph/architecture.h"
#include "engine/graph/experts.h"
#include "engine/graph/layers.h"

namespace kvasir {

namespace {

constexpr int kPeriod = 6;

class Gemma4 : public Architecture {
  public:
    const char * name() const override { return "gemma4"; }
    int rope_mode() const override { return GGML_ROPE_TYPE_NEOX; }
    bool scales_rope_frequencies() const override { return true; }

    void read(const HeaderReader & r, Hparams & hp) const override {
        hp.activation = Activation::gelu;
        hp.attention_scale = 1;
        hp.embedding_scale = std::sqrt(float(hp.n_embd));
        hp.logit_softcap = r.real("final_logit_softcapping", 0, 0, 1e6f);
        for (const uint64_t token : r.file().integers("tokenizer.ggml.suppress_tokens")) {
            if (token < uint64_t(hp.n_vocab)) hp.suppressed.push_back(int32_t(token));
        }
        hp.n_embd_per_layer = r.optional_count("embedding_length_per_layer_input", 1u << 14);
        if (!hp.ropes.front().freq_factors.empty()) hp.rope_scaling = "proportional";
        if (r.file().integer(r.full("expert_count")).value_or(0)) read_experts(r, hp);
        read_windows(r, hp);
        share_last(hp, r.optional_count("attention.shared_kv_layers", uint64_t(hp.n_layer - 1)));
    }

    std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const override {
        const auto name = [&](const char * weight) { return layer_tensor_name(layer, weight); };
        const int64_t d = hp.n_embd, own = hp.n_embd_per_layer;
        auto specs = Architecture::layer_tensors(hp, layer);
        add_head_norms(specs, hp, layer);
        add_post_norms(specs, hp, layer);
        const bool reads_others = hp.layer(layer).kv_of != layer;
        for (TensorSpec & s : specs) {
            const bool of_keys = s.slot == &LayerWeights::wk || s.slot == &LayerWeights::k_norm;
            if (s.slot == &LayerWeights::wv || (of_keys && reads_others)) s.required = false;
        }
        specs.push_back({name("layer_output_scale.weight"), {1}, &LayerWeights::out_scale, false});
        if (own) {
            specs.push_back({name("inp_gate.weight"), {d, own}, &LayerWeights::input_gate});
            specs.push_back({name("proj.weight"), {own, d}, &LayerWeights::input_up});
            specs.push_back({name("post_norm.weight"), {d}, &LayerWeights::input_norm});
        }
        if (hp.experts.count) add_experts_beside(specs, hp, layer);
        return specs;
    }

    ggml_tensor * value(const LayerArgs & l, ggml_tensor * h) const override {
        ggml_tensor * v = split_heads(l.c, linear(l, l.w.wv ? l.w.wv : l.w.wk, nullptr, h), l.shape.head_dim);
        return ggml_reshape_2d(l.c, ggml_rms_norm(l.c, v, l.hp.rms_eps), l.shape.kv_dim(), h->ne[1]);
    }

  protected:
    ggml_tensor * feed_forward(const LayerArgs & l, ggml_tensor * x) const override {
        if (!l.w.router) return Architecture::feed_forward(l, x);
        const auto norm = [&](ggml_tensor * y, ggml_tensor * weight) { return rms_norm(l.c, y, weight, l.hp.rms_eps); };
        ggml_tensor * dense = norm(dense_feed_forward(l, norm(x, l.w.ffn_norm)), l.w.dense_post_norm);
        ggml_tensor * seen = ggml_scale(l.c, ggml_rms_norm(l.c, x, l.hp.rms_eps), 1 / std::sqrt(float(l.hp.n_embd)));
        seen = ggml_mul(l.c, seen, l.w.router_scale);
        ggml_tensor * experts = feed_to_experts(l, norm(x, l.w.experts_norm), seen);
        return ggml_add(l.c, dense, norm(experts, l.w.experts_post_norm));
    }

  private:
    // Layers with a window have different heads and RoPE parameters; only the RoPE of the other layers has factors.
    static void read_windows(const HeaderReader & r, Hparams & hp) {
        r.count("attention.sliding_window", 1u << 30);  // required
        read_window(r, hp, kPeriod);
        const int head_dim = r.count("attention.key_length_swa", 1024, hp.head_dim);
        if (r.count("attention.value_length_swa", 1024, head_dim) != head_dim) {
            throw Error("MODEL_UNSUPPORTED", "The model's keys and values differ in size, which is not supported.");
        }
        for (LayerShape & layer : hp.layers)
            if (layer.windowed) layer.head_dim = head_dim;
        RopeParams near = hp.ropes.front();
        near.n_rot = r.count("rope.dimension_count_swa", uint64_t(head_dim), head_dim);
        near.freq_base = r.real("rope.freq_base_swa", near.freq_base, 1, 1e15f);
        near.freq_factors.clear();
        use_in_windows(hp, std::move(near));
    }

    // Each of the last `count` layers reads the keys and values of the nearest earlier layer of the same kind (windowed
    // or not) before them.
    static void share_last(Hparams & hp, int count) {
        const int own = hp.n_layer - count;
        for (int il = own; il < hp.n_layer; ++il) {
            int from = own - 1;
            while (from >= 0 && hp.layer(from).windowed != hp.layer(il).windowed) --from;
            if (from < 0) {
                throw Error("MODEL_INVALID", "The model's layer " + std::to_string(il) +
                                                 " has no earlier layer of its kind whose keys it could read.");
            }
            hp.layers[size_t(il)].kv_of = from;
        }
    }

    static void add_experts_beside(std::vector<TensorSpec> & specs, const Hparams & hp, int layer) {
        const auto name = [&](const char * weight) { return layer_tensor_name(layer, weight); };
        const int64_t d = hp.n_embd, ff = hp.experts.n_ff, n = hp.experts.count;
        specs.push_back({name("ffn_gate_inp.weight"), {d, n}, &LayerWeights::router});
        specs.push_back({name("ffn_gate_inp.scale"), {d}, &LayerWeights::router_scale});
        specs.push_back({name("ffn_gate_up_exps.weight"), {d, 2 * ff, n}, &LayerWeights::gate_up_experts});
        specs.push_back({name("ffn_down_exps.weight"), {ff, d, n}, &LayerWeights::down_experts});
        specs.push_back({name("ffn_down_exps.scale"), {n}, &LayerWeights::expert_scales, false});
        specs.push_back({name("post_ffw_norm_1.weight"), {d}, &LayerWeights::dense_post_norm});
        specs.push_back({name("pre_ffw_norm_2.weight"), {d}, &LayerWeights::experts_norm});
        specs.push_back({name("post_ffw_norm_2.weight"), {d}, &LayerWeights::experts_post_norm});
    }
};

}  // namespace

std::unique_ptr<Architecture> make_gemma4() { return std::make_unique<Gemma4>(); }

}  // namespace kvasir
