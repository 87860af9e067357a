#include "header_numbers.h"

#include <algorithm>

#include "engine/error.h"
#include "engine/graph/architecture.h"

namespace kvasir {

namespace {

constexpr uint64_t kMostLayers = 512;  // libllama's limit

[[noreturn]] void impossible(const GgufFile & file, const std::string & what) {
    throw Error("MODEL_INVALID", "The header of the model " + file.path() + " is invalid: " + what + ".",
                "The file may be damaged; download it again.");
}

void check_reals(const GgufFile & file, const std::string & arch) {
    for (const std::string & key : file.keys()) {
        if (!key.starts_with(arch + ".") || !file.is_real(key)) continue;
        const bool epsilon = key.ends_with("_epsilon");
        const double value = *file.number(key), least = epsilon ? 0 : -1e15, most = epsilon ? 1 : 1e15;
        if (!(value >= least && value <= most)) impossible(file, key + " = " + std::to_string(value));
    }
}

// Heads are required if there is attention; libllama checks per-layer lists.
struct Count {
    const char * name;
    uint64_t least, most;
    bool required = false;
};
const Count kCounts[] = {
    {"block_count", 1, kMostLayers, true},
    {"embedding_length", 1, 1u << 17, true},
    {"context_length", 1, 1u << 24, true},
    {"feed_forward_length", 0, 1u << 20},
    {"expert_feed_forward_length", 0, 1u << 20},
    {"expert_count", 0, 1u << 12},
    {"expert_used_count", 0, 1u << 12},
    {"expert_group_count", 0, 1u << 12},
    {"expert_group_used_count", 0, 1u << 12},
    {"nextn_predict_layers", 0, kMostLayers},
    {"attention.head_count", 0, 1024},
    {"attention.head_count_kv", 0, 1024},
    {"attention.key_length", 1, 4096},
    {"attention.value_length", 1, 4096},
    {"attention.sliding_window", 0, 1u << 24},
    {"rope.dimension_count", 0, 4096},
    {"ssm.conv_kernel", 0, 1024},
    {"ssm.inner_size", 0, 1u << 20},
    {"ssm.state_size", 0, 1u << 16},
    {"ssm.time_step_rank", 0, 1u << 16},
    {"ssm.group_count", 0, 1u << 16},
    {"shortconv.l_cache", 1, 1024},
    {"wkv.head_size", 1, 1u << 16},
    {"full_attention_interval", 1, kMostLayers},
};

uint64_t integer_or(const GgufFile & file, const std::string & key, uint64_t fallback) {
    return file.is_array(key) ? fallback : file.integer(key).value_or(fallback);
}

void check_experts(const GgufFile & file, const std::string & arch) {
    const auto number = [&](const char * name) { return integer_or(file, arch + "." + name, 0); };
    const uint64_t experts = number("expert_count"), used = number("expert_used_count");
    const bool listed = file.is_array(arch + ".expert_used_count");
    if (used > std::max<uint64_t>(experts, 1) || (experts > 1 && used == 0 && !listed)) {
        impossible(file, "it uses " + std::to_string(used) + " of " + std::to_string(experts) + " experts");
    }
    const uint64_t groups = number("expert_group_count"), used_groups = number("expert_group_used_count");
    const bool even = groups < 2 || (experts % groups == 0 && used_groups > 0 && used_groups < groups);
    if (groups > 0 && (groups >= experts || !even)) {
        impossible(file, "it uses " + std::to_string(used_groups) + " of " + std::to_string(groups) + " groups of " +
                             std::to_string(experts) + " experts");
    }
}

void check_rope(const GgufFile & file, const std::string & arch) {
    const uint64_t rotated = integer_or(file, arch + ".rope.dimension_count", 0);
    if (rotated % 2 != 0 || rotated > integer_or(file, arch + ".attention.key_length", rotated)) {
        impossible(file, "it rotates " + std::to_string(rotated) + " dimensions of a head");
    }
    const std::string scaling = file.string(arch + ".rope.scaling.type").value_or("none");
    if (scaling != "none" && scaling != "linear" && scaling != "yarn" && scaling != "longrope") {
        impossible(file, "it scales rotations by \"" + scaling + "\"");
    }
}

}  // namespace

void check_header_numbers(const GgufFile & file, const std::string & arch) {
    check_reals(file, arch);
    for (const Count & count : kCounts) {
        const std::string key = arch + "." + count.name;
        if (file.is_array(key)) {
            if (file.array_size(key) > kMostLayers) impossible(file, key + " is a list for too many layers");
            continue;
        }
        const auto value = file.integer(key);
        if (!value && count.required) impossible(file, "it lacks " + key);
        if (value && (*value < count.least || *value > count.most)) {
            impossible(file, key + " = " + std::to_string(*value));
        }
    }
    check_experts(file, arch);
    check_rope(file, arch);
    const uint64_t layers = integer_or(file, arch + ".block_count", 0);
    if (integer_or(file, arch + ".nextn_predict_layers", 0) >= layers) {
        impossible(file, "all of its layers are draft layers");
    }
    // ggml's alignment requirement for mapped memory.
    if (file.integer("general.alignment").value_or(32) % 32 != 0) impossible(file, "its weights are not aligned");
    const auto * embedding = file.find("token_embd.weight");
    if (!embedding || uint64_t(embedding->ne[0]) != integer_or(file, arch + ".embedding_length", 0)) {
        impossible(file, "it has no token embedding of the size given in its header");
    }
}

SessionMemory session_memory(const GgufFile & file, const std::string & arch) {
    const uint64_t layers = std::min(integer_or(file, arch + ".block_count", 0), kMostLayers);
    const uint64_t width = integer_or(file, arch + ".embedding_length", 0);
    const uint64_t heads = integer_or(file, arch + ".attention.head_count", 0);
    const uint64_t kv_heads = integer_or(file, arch + ".attention.head_count_kv", heads);
    const uint64_t head = integer_or(file, arch + ".attention.key_length", heads ? width / heads : 0);
    const uint64_t inner = integer_or(file, arch + ".ssm.inner_size", 0);
    const uint64_t state = inner * integer_or(file, arch + ".ssm.state_size", 0);
    const uint64_t wkv = width * integer_or(file, arch + ".wkv.head_size", 0);
    const uint64_t conv = inner * integer_or(file, arch + ".ssm.conv_kernel", 0) +
                          width * integer_or(file, arch + ".shortconv.l_cache", 0);
    SessionMemory memory;
    for (uint64_t il = 0; il < layers; ++il) {
        const auto rows = [&](const char * weight) -> double {
            const auto * t = file.find(layer_tensor_name(int(il), weight));
            return t ? double(t->ne[1]) : 0;
        };
        const double separate = rows("attn_k.weight") + rows("attn_v.weight");
        const double compressed = rows("attn_kv_a_mqa.weight");
        bool runs = false;  // has running state
        for (const char * weight : {"ssm_out.weight", "shortconv.out_proj.weight", "time_mix_output.weight"})
            runs = runs || rows(weight) > 0;
        if (separate > 0) memory.values_per_token += separate;
        else if (compressed > 0) memory.values_per_token += compressed;
        else if (!runs && rows("attn_qkv.weight") > 0) memory.values_per_token += 2 * double(kv_heads * head);
        if (runs) memory.state_values += double(state + wkv + conv);
    }
    return memory;
}

}  // namespace kvasir
