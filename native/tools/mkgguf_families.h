#pragma once
// How the published files of a family differ from Llama's.
#include <map>
#include <string>
#include <vector>

#include "gguf.h"

namespace mkgguf {

constexpr int kPerLayerEmbd = 256;  // of Gemma 4's small models

struct Family {
    bool qkv_bias = false, output_bias = false;
    bool head_norms = false;           // of every query and key head
    bool whole_norms = false;          // of all query heads together, and of all key heads
    bool pre_norms = true, post_norms = false;
    bool norm_behind_attention = false;  // named post norm, used as the feed-forward's norm
    bool fused_qkv = false, fused_gate_up = false;
    bool experts = false, expert_bias = false, sinks = false;
    bool shared_experts = false;       // two, in all layers but the first (dense); the last layer is for drafts
    bool needs_output = false;         // separate output weights
    int rotated = 1;                   // one in this many dimensions of a head
    int window_period = 0;             // one layer in this many has no window
};

inline Family family_named(const std::string & arch) {
    static const std::map<std::string, Family> families{
        {"llama", {}},
        {"bert", {}},
        {"mistral3", {}},
        {"granite", {}},
        {"smollm3", {}},
        {"qwen2", {.qkv_bias = true}},
        {"qwen3", {.head_norms = true}},
        {"qwen3vl", {.head_norms = true}},
        {"qwen3moe", {.head_norms = true, .experts = true}},
        {"phi3", {.fused_qkv = true, .fused_gate_up = true, .rotated = 2}},
        {"glm4", {.qkv_bias = true, .post_norms = true, .fused_gate_up = true, .rotated = 2}},
        {"glm4moe",
         {.qkv_bias = true, .head_norms = true, .norm_behind_attention = true, .experts = true, .shared_experts = true,
          .rotated = 2}},
        {"olmo2",
         {.whole_norms = true, .pre_norms = false, .post_norms = true, .needs_output = true, .window_period = 4}},
        {"gemma2", {.post_norms = true, .window_period = 2}},
        {"gemma3", {.head_norms = true, .post_norms = true, .window_period = 6}},
        {"gemma4", {.head_norms = true, .post_norms = true, .window_period = 2}},
        {"gpt-oss",
         {.qkv_bias = true,
          .output_bias = true,
          .norm_behind_attention = true,
          .experts = true,
          .expert_bias = true,
          .sinks = true,
          .needs_output = true,
          .window_period = 2}},
    };
    const auto found = families.find(arch);
    return found == families.end() ? Family{} : found->second;  // tests also need files of unknown families
}

struct Numbers {
    int layers, embd, heads, kv_heads, head_dim, ff, context, experts, experts_used, window;
    int window_period, shared_kv;  // of Gemma 4: one layer in this many has no window; layers that share KV
    std::string variant;           // of Gemma 4: e2b, 31b, 26b-a4b
};

// Properties that differ between layers.
struct Layer {
    int kv_heads, head_dim, ff;
    bool keys = true, values = true;  // whether it has weights for them
};

inline bool is_windowed(const Numbers & n, int il) { return il % n.window_period < n.window_period - 1; }
inline int shared_layers(const Numbers & n) { return n.variant == "e2b" ? n.shared_kv : 0; }

// In Gemma 4, layers with a window have smaller heads. In its small models the last layers read keys and values of
// earlier ones and are twice as wide; in its large ones, layers without a window have fewer KV heads and use keys as
// values.
inline Layer layer_of(const std::string & arch, const Numbers & n, int il) {
    Layer out{n.kv_heads, n.head_dim, n.ff};
    if (arch != "gemma4") return out;
    const bool windowed = is_windowed(n, il), small = n.variant == "e2b";
    if (windowed) out.head_dim /= 2;
    if (small && il >= n.layers - shared_layers(n)) out.keys = out.values = false, out.ff *= 2;
    if (!small && !windowed) out.kv_heads /= 2, out.values = false;
    return out;
}

inline void family_keys(gguf_context * g, const std::string & arch, const Numbers & n, const std::string & rope) {
    const auto u32 = [&](const char * key, int v) { gguf_set_val_u32(g, (arch + "." + key).c_str(), uint32_t(v)); };
    const auto f32 = [&](const char * key, float v) { gguf_set_val_f32(g, (arch + "." + key).c_str(), v); };
    const Family family = family_named(arch);
    if (rope == "longrope") {
        u32("rope.scaling.original_context_length", n.context / 8), f32("rope.scaling.attn_factor", 1.2f);
    }
    if (family.experts) u32("expert_count", n.experts), u32("expert_used_count", n.experts_used);
    if (family.window_period && n.window) u32("attention.sliding_window", n.window);
    if (arch == "glm4moe") {
        u32("expert_shared_count", 2), u32("leading_dense_block_count", 1), u32("nextn_predict_layers", 1);
        u32("expert_gating_func", 2), f32("expert_weights_scale", 1.5f);
        gguf_set_val_bool(g, "glm4moe.expert_weights_norm", true);
    } else if (arch == "gemma4") {
        const bool small = n.variant == "e2b", sparse = n.variant == "26b-a4b";
        std::vector<int8_t> windowed;
        std::vector<uint32_t> kv_heads, ff;
        for (int il = 0; il < n.layers; ++il) {
            const Layer layer = layer_of(arch, n, il);
            windowed.push_back(is_windowed(n, il));
            kv_heads.push_back(uint32_t(layer.kv_heads)), ff.push_back(uint32_t(layer.ff));
        }
        const auto list = [&](const char * key, gguf_type type, const void * values) {
            gguf_set_arr_data(g, (arch + "." + key).c_str(), type, values, size_t(n.layers));
        };
        list("attention.sliding_window_pattern", GGUF_TYPE_BOOL, windowed.data());
        if (!small) list("attention.head_count_kv", GGUF_TYPE_UINT32, kv_heads.data());
        if (small) list("feed_forward_length", GGUF_TYPE_UINT32, ff.data());
        u32("attention.key_length_swa", n.head_dim / 2), u32("attention.value_length_swa", n.head_dim / 2);
        u32("rope.dimension_count_swa", n.head_dim / 2), f32("rope.freq_base_swa", 5000);
        u32("attention.shared_kv_layers", shared_layers(n));
        u32("embedding_length_per_layer_input", small ? kPerLayerEmbd : 0);
        f32("final_logit_softcapping", 30);
        if (sparse) u32("expert_count", n.experts), u32("expert_used_count", n.experts_used);
    } else if (arch == "gemma2") {
        f32("attn_logit_softcapping", 5), f32("final_logit_softcapping", 4);  // small, so that the effect is visible
    } else if (arch == "granite") {
        f32("logit_scale", 8), f32("residual_scale", 0.7f), f32("embedding_scale", 1.5f), f32("attention.scale", 0.2f);
    } else if (arch == "mistral3" && rope == "yarn") {
        f32("rope.scaling.yarn_beta_fast", 16), f32("rope.scaling.yarn_beta_slow", 2);
        f32("rope.scaling.yarn_log_multiplier", 0.5f);
        f32("attention.temperature_scale", 0.3f);
    } else if (arch == "qwen3vl") {
        const int pairs = n.head_dim / 2;
        const int32_t sections[4] = {(pairs + 2) / 3, (pairs + 1) / 3, pairs / 3, 0};
        gguf_set_arr_data(g, (arch + ".rope.dimension_sections").c_str(), GGUF_TYPE_INT32, sections, 4);
        u32("n_deepstack_layers", 3);
    }
}

}  // namespace mkgguf
