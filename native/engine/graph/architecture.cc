#include "architecture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/error.h"
#include "experts.h"
#include "layers.h"

namespace kvasir {

void Architecture::read(const HeaderReader &, Hparams &) const {}

ggml_tensor * Architecture::attention_input(const LayerArgs & l, ggml_tensor * x) const {
    return l.w.attn_norm ? rms_norm(l.c, x, l.w.attn_norm, l.hp.rms_eps) : x;
}

namespace {

// Heads of w · h, normalised per head or all together, depending on the length of the norm.
ggml_tensor * heads(const LayerArgs & l, ggml_tensor * w, ggml_tensor * bias, ggml_tensor * norm, ggml_tensor * h) {
    ggml_tensor * y = linear(l, w, bias, h);
    const int head_dim = l.shape.head_dim;
    if (norm && norm->ne[0] == y->ne[0]) return split_heads(l.c, rms_norm(l.c, y, norm, l.hp.rms_eps), head_dim);
    y = split_heads(l.c, y, head_dim);
    return norm ? rms_norm(l.c, y, norm, l.hp.rms_eps) : y;
}

// Adds the output of one half of a layer to the residual.
ggml_tensor * add_residual(const LayerArgs & l, ggml_tensor * y, ggml_tensor * post_norm, ggml_tensor * x) {
    if (post_norm) y = rms_norm(l.c, y, post_norm, l.hp.rms_eps);
    if (l.hp.residual_scale != 1) y = ggml_scale(l.c, y, l.hp.residual_scale);
    return ggml_add(l.c, y, x);
}

// Adds the layer's own input to the residual through a gate (per-layer embeddings of Gemma 3n and 4).
ggml_tensor * add_input(const LayerArgs & l, ggml_tensor * x) {
    ggml_tensor * y = ggml_mul(l.c, ggml_gelu(l.c, linear(l, l.w.input_gate, nullptr, x)), l.input);
    return ggml_add(l.c, rms_norm(l.c, linear(l, l.w.input_up, nullptr, y), l.w.input_norm, l.hp.rms_eps), x);
}

}  // namespace

ggml_tensor * Architecture::query(const LayerArgs & l, ggml_tensor * h) const {
    return heads(l, l.w.wq, l.w.bq, l.w.q_norm, h);
}

ggml_tensor * Architecture::key(const LayerArgs & l, ggml_tensor * h) const {
    return heads(l, l.w.wk, l.w.bk, l.w.k_norm, h);
}

ggml_tensor * Architecture::value(const LayerArgs & l, ggml_tensor * h) const {
    return linear(l, l.w.wv, l.w.bv, h);
}

ggml_tensor * Architecture::output(const LayerArgs & l, ggml_tensor * attn, ggml_tensor * x) const {
    ggml_tensor * mid = add_residual(l, linear(l, l.w.wo, l.w.bo, attn), l.w.attn_post_norm, x);
    ggml_tensor * y = add_residual(l, feed_forward(l, mid), l.w.ffn_post_norm, mid);
    if (l.input) y = add_input(l, y);
    return l.w.out_scale ? ggml_mul(l.c, y, l.w.out_scale) : y;
}

ggml_tensor * Architecture::feed_forward(const LayerArgs & l, ggml_tensor * x) const {
    ggml_tensor * h = l.w.ffn_norm ? rms_norm(l.c, x, l.w.ffn_norm, l.hp.rms_eps) : x;
    if (!l.w.router) return dense_feed_forward(l, h);
    ggml_tensor * y = feed_to_experts(l, h, h);
    return l.w.gate ? ggml_add(l.c, y, dense_feed_forward(l, h)) : y;
}

ggml_tensor * dense_feed_forward(const LayerArgs & l, ggml_tensor * x) {
    ggml_tensor * gate = linear(l, l.w.gate, nullptr, x);
    ggml_tensor * up = linear(l, l.w.up, nullptr, x);
    return linear(l, l.w.down, nullptr, gated(l.c, l.hp.activation, gate, up));
}

namespace {

// Factors by which each pair of dimensions rotates more slowly: [n_rot / 2]; empty if the file has none.
std::vector<float> rope_factors(const GgufFile & file, const char * name, int n_rot) {
    const auto * t = file.find(name);
    if (!t) return {};
    std::vector<float> out(size_t(n_rot / 2));
    if (t->type != GGML_TYPE_F32 || t->ne[0] != n_rot / 2 || t->bytes != out.size() * sizeof(float)) {
        throw Error("MODEL_INVALID", "The model " + file.path() + " has RoPE factors of the wrong shape.");
    }
    std::memcpy(out.data(), t->data, t->bytes);
    for (float f : out) {
        if (f > 0 && f < std::numeric_limits<float>::max()) continue;  // huge: not rotated at all
        throw Error("MODEL_INVALID", "The model " + file.path() + " has a RoPE factor that is out of range.");
    }
    return out;
}

// LongRoPE (Ding et al. 2024): one set of factors for contexts up to the original training length, one for longer ones.
// A model that supports longer contexts always uses the latter here, since its chunks are stored for prompts of any
// length and their keys and values depend on the factors.
void read_long_rope(const GgufFile & file, Hparams & hp) {
    RopeParams & rope = hp.ropes.front();
    const bool goes_beyond = hp.n_ctx_train > rope.n_ctx_orig;
    std::vector<float> factors =
        rope_factors(file, goes_beyond ? "rope_factors_long.weight" : "rope_factors_short.weight", rope.n_rot);
    if (factors.empty()) return;
    rope.freq_factors = std::move(factors);
    hp.rope_scaling = "longrope";
}

void read_rope(const HeaderReader & r, const Architecture & arch, Hparams & hp) {
    const GgufFile & file = r.file();
    RopeParams & rope = hp.ropes.front();
    rope.mode = arch.rope_mode();
    rope.n_rot = r.count("rope.dimension_count", hp.head_dim, hp.head_dim);
    rope.freq_base = r.real("rope.freq_base", 10000.0f, 1, 1e15f);
    rope.n_ctx_orig = r.count("rope.scaling.original_context_length", 1u << 24, hp.n_ctx_train);
    // An older key holds only the linear factor; llama.cpp assumes "linear" when no type is named.
    const float older = r.real("rope.scale_linear", 0.0f, 0, 1e6f);
    const float factor = r.real("rope.scaling.factor", older, 0, 1e6f);
    hp.rope_scaling = r.text("rope.scaling.type", "linear");
    const char * const known[] = {"none", "linear", "yarn", "longrope"};
    if (std::find(std::begin(known), std::end(known), hp.rope_scaling) == std::end(known)) {
        throw Error("MODEL_UNSUPPORTED",
                    "The model scales its positions by \"" + hp.rope_scaling + "\", which is not supported.");
    }
    if (rope.n_rot % 2 != 0) {
        throw Error("MODEL_INVALID", "The model " + file.path() + " rotates an odd number of dimensions of a head.");
    }
    if (hp.rope_scaling != "none" && hp.rope_scaling != "longrope" && factor > 0) rope.freq_scale = 1.0f / factor;
    rope.attn_factor = r.real("rope.scaling.attn_factor", 1.0f, 1e-3f, 1e3f);
    rope.beta_fast = r.real("rope.scaling.yarn_beta_fast", rope.beta_fast, 1e-3f, 1e6f);
    rope.beta_slow = r.real("rope.scaling.yarn_beta_slow", rope.beta_slow, 1e-3f, 1e6f);
    if (hp.rope_scaling == "yarn") rope.ext_factor = 1.0f;
    if (rope.freq_scale == 1.0f && rope.ext_factor == 0) hp.rope_scaling = "none";
    if (arch.scales_rope_frequencies()) rope.freq_factors = rope_factors(file, "rope_freqs.weight", rope.n_rot);
    if (!rope.freq_factors.empty()) hp.rope_scaling = "llama3";
    if (arch.scales_rope_by_length()) read_long_rope(file, hp);
}

// Defaults for all layers, which the family may override.
void read_layers(const HeaderReader & r, Hparams & hp) {
    const int n = hp.n_layer;
    const std::vector<int> heads = r.counts("attention.head_count", 1u << 10, n);
    const int most = *std::max_element(heads.begin(), heads.end());
    const std::vector<int> kv = r.counts("attention.head_count_kv", uint64_t(most), n, most);
    const bool experts = r.file().integer(r.full("expert_count")).value_or(0) > 0;
    const std::vector<int> ff = r.counts("feed_forward_length", 1u << 20, n, experts ? 1 : -1);
    const int head_dim = r.count("attention.key_length", 1024, std::max(1, hp.n_embd / most));
    if (r.count("attention.value_length", 1024, head_dim) != head_dim) {
        throw Error("MODEL_UNSUPPORTED", "The model's keys and values differ in size, which is not supported.");
    }
    for (int il = 0; il < n; ++il) {
        const auto i = size_t(il);
        LayerShape & layer = hp.layers.emplace_back();
        layer.n_head = heads[i], layer.n_head_kv = kv[i], layer.head_dim = head_dim, layer.n_ff = ff[i];
        layer.kv_of = il;
    }
}

// Maxima over all layers, and the number of layers that have their own keys and values.
void sum_up_layers(Hparams & hp) {
    hp.n_head = hp.n_head_kv = hp.head_dim = hp.n_ff = hp.n_layer_kv = 0;
    for (int il = 0; il < hp.n_layer; ++il) {
        const LayerShape & layer = hp.layer(il);
        hp.n_head = std::max(hp.n_head, layer.n_head), hp.n_head_kv = std::max(hp.n_head_kv, layer.n_head_kv);
        hp.head_dim = std::max(hp.head_dim, layer.head_dim), hp.n_ff = std::max(hp.n_ff, layer.n_ff);
        hp.n_layer_kv += layer.kv_of == il;
    }
}

void check_shape(const HeaderReader & r, const Hparams & hp) {
    for (const LayerShape & layer : hp.layers) {
        if (layer.n_head % layer.n_head_kv == 0 && layer.kv_dim() % 32 == 0 && layer.head_dim % 8 == 0) continue;
        throw Error("MODEL_UNSUPPORTED",
                    "The model's head counts or sizes are not supported (KV width must be a multiple of 32).");
    }
    if (r.asked().count("attention.sliding_window")) return;  // handled by the family
    if (const int window = r.optional_count("attention.sliding_window", 1u << 30); window && window < hp.n_ctx_train) {
        throw Error("MODEL_UNSUPPORTED", "The model uses sliding windows, which its family does not support.",
                    "Choose another model, or another version of this one.");
    }
}

}  // namespace

void read_experts(const HeaderReader & r, Hparams & hp) {
    Experts & e = hp.experts;
    e.count = r.count("expert_count", 1u << 12);
    e.used = r.count("expert_used_count", uint64_t(e.count));
    e.n_ff = r.count("expert_feed_forward_length", 1u << 20, std::max(1, hp.n_ff / e.used));
    const float scale = r.real("expert_weights_scale", 0, 0, 1e6f);
    if (scale != 0) e.scale = scale;
}

bool read_window(const HeaderReader & r, Hparams & hp, int period, int fallback) {
    const int stated = r.optional_count("attention.sliding_window", 1u << 30), window = stated ? stated : fallback;
    const char * const pattern = "attention.sliding_window_pattern";
    const std::vector<bool> by_layer = r.by_layer(pattern, hp.n_layer);
    if (by_layer.empty()) period = r.count(pattern, 1u << 10, period);
    if (!window) return false;
    hp.window = window;
    for (int il = 0; il < hp.n_layer; ++il) {
        hp.layers[size_t(il)].windowed = by_layer.empty() ? il % period < period - 1 : by_layer[size_t(il)];
    }
    return true;
}

void use_in_windows(Hparams & hp, RopeParams rope) {
    hp.ropes.push_back(std::move(rope));
    for (LayerShape & layer : hp.layers)
        if (layer.windowed) layer.rope = int(hp.ropes.size()) - 1;
}

float QueryTemperature::at(int32_t position) const {
    return std::log(std::floor(float(position) / float(length)) + 1) * scale + 1;
}

Hparams read_hparams(const HeaderReader & r, const Architecture & arch) {
    const GgufFile & file = r.file();
    Hparams hp;
    hp.arch = arch.name();
    hp.n_layer = r.count("block_count", 1024);
    hp.n_embd = r.count("embedding_length", 1u << 17);
    read_layers(r, hp);
    sum_up_layers(hp);
    hp.n_ctx_train = r.count("context_length", 1u << 24);
    hp.rms_eps = r.real("attention.layer_norm_rms_epsilon", 1e-5f, 0, 1);
    hp.attention_scale = 1.0f / std::sqrt(float(hp.head_dim));
    const auto * embd = file.find("token_embd.weight");
    if (!embd || embd->ne[0] != hp.n_embd || embd->ne[1] < 1 || embd->ne[1] > 1 << 24) {
        throw Error("MODEL_INVALID",
                    "The model " + file.path() + " has no token embedding of the size given in its header.");
    }
    hp.n_vocab = int(embd->ne[1]);
    read_rope(r, arch, hp);
    arch.read(r, hp);
    sum_up_layers(hp);
    check_shape(r, hp);
    return hp;
}

}  // namespace kvasir
