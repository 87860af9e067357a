#include "architecture.h"

#include <algorithm>
#include <cstring>

#include "error.h"
#include "layers.h"

namespace kvasir {

std::string layer_tensor_name(int layer, const char * weight) { return "blk." + std::to_string(layer) + "." + weight; }

std::vector<TensorSpec> Architecture::layer_tensors(const Hparams & hp, int layer) const {
    const auto name = [&](const char * weight) { return layer_tensor_name(layer, weight); };
    const int64_t d = hp.n_embd, q = hp.q_dim(), kv = hp.kv_dim(), ff = hp.n_ff;
    return {
        {name("attn_norm.weight"), {d}, &LayerWeights::attn_norm},
        {name("attn_q.weight"), {d, q}, &LayerWeights::wq},
        {name("attn_k.weight"), {d, kv}, &LayerWeights::wk},
        {name("attn_v.weight"), {d, kv}, &LayerWeights::wv},
        {name("attn_output.weight"), {q, d}, &LayerWeights::wo},
        {name("ffn_norm.weight"), {d}, &LayerWeights::ffn_norm},
        {name("ffn_gate.weight"), {d, ff}, &LayerWeights::gate},
        {name("ffn_up.weight"), {d, ff}, &LayerWeights::up},
        {name("ffn_down.weight"), {ff, d}, &LayerWeights::down},
        {name("attn_q.bias"), {q}, &LayerWeights::bq, false},
        {name("attn_k.bias"), {kv}, &LayerWeights::bk, false},
        {name("attn_v.bias"), {kv}, &LayerWeights::bv, false},
        {name("attn_output.bias"), {d}, &LayerWeights::bo, false},
    };
}

ggml_tensor * Architecture::attention_input(const LayerArgs & l, ggml_tensor * x) const {
    return rms_norm(l.c, x, l.w.attn_norm, l.hp.rms_eps);
}

ggml_tensor * Architecture::query(const LayerArgs & l, ggml_tensor * h) const {
    ggml_tensor * q = split_heads(l.c, linear(l.c, l.w.wq, l.w.bq, h), l.hp.head_dim);
    return l.w.q_norm ? rms_norm(l.c, q, l.w.q_norm, l.hp.rms_eps) : q;
}

ggml_tensor * Architecture::key(const LayerArgs & l, ggml_tensor * h) const {
    ggml_tensor * k = split_heads(l.c, linear(l.c, l.w.wk, l.w.bk, h), l.hp.head_dim);
    return l.w.k_norm ? rms_norm(l.c, k, l.w.k_norm, l.hp.rms_eps) : k;
}

ggml_tensor * Architecture::value(const LayerArgs & l, ggml_tensor * h) const {
    return linear(l.c, l.w.wv, l.w.bv, h);
}

ggml_tensor * Architecture::output(const LayerArgs & l, ggml_tensor * attn, ggml_tensor * x) const {
    ggml_tensor * mid = ggml_add(l.c, linear(l.c, l.w.wo, l.w.bo, attn), x);
    return ggml_add(l.c, feed_forward(l, rms_norm(l.c, mid, l.w.ffn_norm, l.hp.rms_eps)), mid);
}

// down(silu(gate · x) ⊙ up · x)
ggml_tensor * Architecture::feed_forward(const LayerArgs & l, ggml_tensor * x) const {
    ggml_tensor * gate = matmul(l.c, l.w.gate, x);
    ggml_tensor * up = matmul(l.c, l.w.up, x);
    return matmul(l.c, l.w.down, ggml_swiglu_split(l.c, gate, up));
}

namespace {

// Reads numbers under "<arch>." and refuses what no real model has, so that later arithmetic cannot overflow.
class Reader {
  public:
    Reader(const GgufFile & file, std::string arch) : file_(file), arch_(std::move(arch)) {}

    int count(const std::string & key, uint64_t max, int fallback = -1) const {
        const std::string full = arch_ + "." + key;
        if (file_.is_array(full)) {
            throw Error("MODEL_UNSUPPORTED",
                        "The model differs from layer to layer (" + full + " is a list), which is not supported.");
        }
        const auto v = file_.integer(full);
        if (!v && fallback >= 0) return fallback;
        if (!v) throw Error("MODEL_INVALID", "The model " + file_.path() + " lacks the entry " + full + ".");
        if (*v == 0 || *v > max) {
            throw Error("MODEL_INVALID", "The model " + file_.path() + " says " + full + " = " + std::to_string(*v) +
                                             ", which is out of range.");
        }
        return int(*v);
    }

    // Within least … most. NaN is within nothing.
    float real(const std::string & key, float fallback, float least, float most) const {
        const auto v = file_.number(arch_ + "." + key);
        if (!v) return fallback;
        if (*v >= double(least) && *v <= double(most)) return float(*v);
        throw Error("MODEL_INVALID", "The model " + file_.path() + " says " + arch_ + "." + key + " = " +
                                         std::to_string(*v) + ", which is out of range.");
    }

  private:
    const GgufFile & file_;
    std::string arch_;
};

void read_rope(const GgufFile & file, const Architecture & arch, const Reader & r, Hparams & hp) {
    RopeParams & rope = hp.rope;
    rope.mode = arch.rope_mode();
    rope.n_rot = r.count("rope.dimension_count", hp.head_dim, hp.head_dim);
    rope.freq_base = r.real("rope.freq_base", 10000.0f, 1, 1e15f);
    rope.n_ctx_orig = r.count("rope.scaling.original_context_length", 1u << 24, hp.n_ctx_train);
    // An older key gives the linear factor alone; llama.cpp takes "linear" when no type is named.
    const float older = r.real("rope.scale_linear", 0.0f, 0, 1e6f);
    const float factor = r.real("rope.scaling.factor", older, 0, 1e6f);
    hp.rope_scaling = file.string(hp.arch + ".rope.scaling.type").value_or("linear");
    if (hp.rope_scaling != "none" && hp.rope_scaling != "linear" && hp.rope_scaling != "yarn") {
        throw Error("MODEL_UNSUPPORTED",
                    "The model scales its positions by \"" + hp.rope_scaling + "\", which is not supported.");
    }
    if (rope.n_rot % 2 != 0) {
        throw Error("MODEL_INVALID", "The model " + file.path() + " rotates an odd number of dimensions of a head.");
    }
    if (hp.rope_scaling != "none" && factor > 0) rope.freq_scale = 1.0f / factor;
    rope.attn_factor = r.real("rope.scaling.attn_factor", 1.0f, 1e-3f, 1e3f);
    if (hp.rope_scaling == "yarn") rope.ext_factor = 1.0f;
    if (rope.freq_scale == 1.0f && rope.ext_factor == 0) hp.rope_scaling = "none";

    const auto * t = file.find("rope_freqs.weight");
    if (t && arch.scales_rope_frequencies()) {
        if (t->type != GGML_TYPE_F32 || t->ne[0] != rope.n_rot / 2 ||
            t->bytes != size_t(rope.n_rot / 2) * sizeof(float)) {
            throw Error("MODEL_INVALID", "The model " + file.path() + " has RoPE factors of a wrong shape.");
        }
        rope.freq_factors.resize(rope.n_rot / 2);
        std::memcpy(rope.freq_factors.data(), t->data, t->bytes);
        for (float f : rope.freq_factors) {
            if (f > 0 && f < 1e9f) continue;
            throw Error("MODEL_INVALID", "The model " + file.path() + " has a RoPE factor that is out of range.");
        }
        hp.rope_scaling = "llama3";
    }
}

}  // namespace

Hparams read_hparams(const GgufFile & file, const Architecture & arch) {
    Hparams hp;
    hp.arch = arch.name();
    const Reader r(file, hp.arch);
    hp.n_layer = r.count("block_count", 1024);
    hp.n_embd = r.count("embedding_length", 1u << 17);
    hp.n_ff = r.count("feed_forward_length", 1u << 20);
    hp.n_head = r.count("attention.head_count", 1u << 10);
    hp.n_head_kv = r.count("attention.head_count_kv", hp.n_head, hp.n_head);
    hp.n_ctx_train = r.count("context_length", 1u << 24);
    hp.rms_eps = r.real("attention.layer_norm_rms_epsilon", 1e-5f, 0, 1);
    hp.head_dim = r.count("attention.key_length", 1024, std::max(1, hp.n_embd / hp.n_head));
    if (r.count("attention.value_length", 1024, hp.head_dim) != hp.head_dim) {
        throw Error("MODEL_UNSUPPORTED", "The model's keys and values differ in size, which is not supported.");
    }
    const auto * embd = file.find("token_embd.weight");
    if (!embd || embd->ne[0] != hp.n_embd || embd->ne[1] < 1 || embd->ne[1] > 1 << 24) {
        throw Error("MODEL_INVALID",
                    "The model " + file.path() + " has no token embedding of the size its header says.");
    }
    hp.n_vocab = int(embd->ne[1]);
    if (hp.n_head % hp.n_head_kv != 0 || hp.kv_dim() % 32 != 0 || hp.head_dim % 8 != 0) {
        throw Error("MODEL_UNSUPPORTED",
                    "The model's head counts or sizes are not supported (KV width must be a multiple of 32).");
    }
    if (const auto window = file.integer(hp.arch + ".attention.sliding_window");
        window && *window > 0 && *window < uint64_t(hp.n_ctx_train)) {
        throw Error("MODEL_UNSUPPORTED", "The model uses sliding-window attention, which blending does not support.",
                    "Choose a model with full attention, such as Llama 3, Qwen 2.5 or Qwen 3.");
    }
    if (file.find("rope_factors_long.weight") || file.find("blk.0.rope_factors_long.weight")) {
        throw Error("MODEL_UNSUPPORTED", "The model uses LongRoPE, which is not supported.");
    }
    read_rope(file, arch, r, hp);
    return hp;
}

}  // namespace kvasir
