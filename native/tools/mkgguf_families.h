#pragma once
// What the files of a family have that Llama's have not, as the published ones are written.
#include <map>
#include <string>
#include <vector>

#include "gguf.h"

namespace mkgguf {

struct Family {
    bool qkv_bias = false, output_bias = false;
    bool head_norms = false;           // of every query and key head
    bool whole_norms = false;          // of all query heads together, and of all key heads
    bool pre_norms = true, post_norms = false;
    bool norm_behind_attention = false;  // named as a post norm, used as the feed-forward's own
    bool fused_qkv = false, fused_gate_up = false;
    bool experts = false, expert_bias = false, sinks = false;
    bool needs_output = false;         // output weights of its own
    int rotated = 1;                   // one in so many dimensions of a head
    int window_period = 0;             // every so many layers one sees all
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
        {"olmo2",
         {.whole_norms = true, .pre_norms = false, .post_norms = true, .needs_output = true, .window_period = 4}},
        {"gemma3", {.head_norms = true, .post_norms = true, .window_period = 6}},
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
    return found == families.end() ? Family{} : found->second;  // files of families that nobody knows are needed, too
}

struct Numbers {
    int embd, head_dim, context, experts, experts_used, window;
};

// Keys of this family alone.
inline void family_keys(gguf_context * g, const std::string & arch, const Numbers & n, const std::string & rope) {
    const auto u32 = [&](const char * key, int v) { gguf_set_val_u32(g, (arch + "." + key).c_str(), uint32_t(v)); };
    const auto f32 = [&](const char * key, float v) { gguf_set_val_f32(g, (arch + "." + key).c_str(), v); };
    const Family family = family_named(arch);
    if (rope == "longrope") {
        u32("rope.scaling.original_context_length", n.context / 8), f32("rope.scaling.attn_factor", 1.2f);
    }
    if (family.experts) u32("expert_count", n.experts), u32("expert_used_count", n.experts_used);
    if (family.window_period && n.window) u32("attention.sliding_window", n.window);
    if (arch == "granite") {
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
