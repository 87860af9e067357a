#include "backend.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "engine/error.h"
#include "llama.h"

namespace kvasir {

namespace {

const char * kind_name(ggml_backend_dev_t dev) {
    switch (ggml_backend_dev_type(dev)) {
        case GGML_BACKEND_DEVICE_TYPE_CPU: return "cpu";
        case GGML_BACKEND_DEVICE_TYPE_GPU: return "gpu";
        case GGML_BACKEND_DEVICE_TYPE_IGPU: return "igpu";
        default: return "accel";
    }
}

// Receives ggml's log messages on a thread that sets it; other threads drop them. Owned by the thread that set it.
thread_local std::string * heard = nullptr;

void hear(ggml_log_level, const char * text, void *) {
    if (heard) *heard += text;
}

bool contains(const std::string & text, const char * part) { return text.find(part) != std::string::npos; }

// Why ggml rejected a library, inferred from its log and the system loader's.
std::string why_not_loaded(const std::string & said) {
    if (contains(said, "API version") || contains(said, "undefined symbol") || contains(said, "find ggml_backend_init"))
        return "it was built for another release of ggml";
    if (contains(said, "ELF") || contains(said, "too short")) return "the file is damaged";
    const size_t colon = said.find(": cannot open shared object file");
    if (colon != std::string::npos) {
        const size_t before = said.rfind(' ', colon);
        return "the driver or a library that it needs is missing (" + said.substr(before + 1, colon - before - 1) + ")";
    }
    return "the driver it needs is missing or does not work";
}

}  // namespace

// Loads all libraries; ggml keeps the CPU library that suits this machine best. KVASIR_CPU ("haswell", "zen4" …) loads
// only that CPU library, so that comparisons run on a known one.
static void load_libraries(const std::string & dir) {
    const char * cpu = std::getenv("KVASIR_CPU");
    if (!cpu || !*cpu) return ggml_backend_load_all_from_path(dir.c_str());
#if defined(_WIN32)
    const std::string file = "ggml-cpu-" + std::string(cpu) + ".dll";
#elif defined(__APPLE__)
    const std::string file = "libggml-cpu-" + std::string(cpu) + ".dylib";
#else
    const std::string file = "libggml-cpu-" + std::string(cpu) + ".so";
#endif
    ggml_backend_load((dir + "/" + file).c_str());
}

void init_backends(const std::string & dir) {
    static std::once_flag once;
    std::call_once(once, [&] {
        llama_log_set(hear, nullptr);
        ggml_log_set(hear, nullptr);
        load_libraries(dir);
        llama_backend_init();
    });
    if (!ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU)) {
        if (const char * cpu = std::getenv("KVASIR_CPU"); cpu && *cpu) {
            throw Error("ENGINE_FAILED",
                        "KVASIR_CPU selects ggml's library for \"" + std::string(cpu) + "\", which is not in " + dir +
                            " or does not run on this CPU.",
                        "Unset KVASIR_CPU, or name another library.");
        }
        throw Error("ENGINE_FAILED", "No ggml CPU backend was found in " + dir + ".", "Run `npm run setup` again.");
    }
}

// Sets an environment variable that the user has not set.
static void set_default(const char * name, const char * value) {
#if defined(_WIN32)
    if (!std::getenv(name)) _putenv_s(name, value);
#else
    setenv(name, value, 0);
#endif
}

void load_pack(const std::string & path) {
    // On GPUs since Hopper, ggml-cuda starts kernels before those that they read from have ended (programmatic
    // dependent launch). Some do not wait: beside other programs on the GPU, most results were wrong (decision 0306).
    set_default("GGML_CUDA_PDL", "0");
    std::string said;
    heard = &said;
    const ggml_backend_reg_t loaded = ggml_backend_load(path.c_str());
    heard = nullptr;
    if (loaded) return;
    const size_t slash = path.find_last_of("/\\");
    throw Error("DEVICE_FAILED",
                "The GPU pack " + path.substr(slash + 1) + " could not be loaded, so the CPU is used: " +
                    why_not_loaded(said) + ".",
                "Install the GPU's driver, or run `npm run setup` with the pack's flag again; then test it again in "
                "the settings.");
}

static std::vector<ggml_backend_buffer_type_t> all_layouts(ggml_backend_dev_t dev) {
    std::vector<ggml_backend_buffer_type_t> all;
    const auto extra = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
        ggml_backend_reg_get_proc_address(ggml_backend_dev_backend_reg(dev), "ggml_backend_dev_get_extra_bufts"));
    for (auto * type = extra ? extra(dev) : nullptr; type && *type; ++type) all.push_back(*type);
    return all;
}

static bool is_faulty(ggml_backend_buffer_type_t layout) {
    return std::strcmp(ggml_backend_buft_name(layout), "AMX") == 0;
}

std::vector<ggml_backend_buffer_type_t> weight_layouts(ggml_backend_dev_t dev) {
    auto layouts = all_layouts(dev);
    std::erase_if(layouts, is_faulty);
    return layouts;
}

bool has_faulty_layout() {
    const auto layouts = all_layouts(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU));
    return std::any_of(layouts.begin(), layouts.end(), is_faulty);
}

std::vector<DeviceInfo> list_devices() {
    std::vector<DeviceInfo> out;
    for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
        ggml_backend_dev_t dev = ggml_backend_dev_get(i);
        DeviceInfo info{ggml_backend_dev_name(dev), ggml_backend_dev_description(dev), kind_name(dev), 0, 0};
        ggml_backend_dev_memory(dev, &info.memory_free, &info.memory_total);
        out.push_back(info);
    }
    return out;
}

size_t spare_memory(ggml_backend_dev_t dev) {
    size_t free = 0, total = 0;
    ggml_backend_dev_memory(dev, &free, &total);
    const size_t reserve = std::max<size_t>(size_t(1) << 30, total / 10);
    return free > reserve ? free - reserve : 0;
}

ContextPtr make_context(size_t tensors) {
    ggml_init_params params{ggml_tensor_overhead() * (tensors + 1), nullptr, true};
    ContextPtr ctx(ggml_init(params));
    if (!ctx) throw Error("OUT_OF_MEMORY", "There is not enough memory for a tensor table.");
    return ctx;
}

ContextPtr make_graph_context(size_t nodes) {
    // Twice the nodes: leaves and views are tensors but not nodes.
    ContextPtr ctx(
        ggml_init({2 * nodes * ggml_tensor_overhead() + ggml_graph_overhead_custom(nodes, false), nullptr, true}));
    if (!ctx) throw Error("OUT_OF_MEMORY", "There is not enough memory for a graph.");
    return ctx;
}

BufferPtr allocate_tensors(ggml_context * ctx, ggml_backend_buffer_type_t type) {
    const size_t size = ggml_backend_alloc_ctx_tensors_from_buft_size(ctx, type);
    BufferPtr buffer(ggml_backend_alloc_ctx_tensors_from_buft(ctx, type));
    if (!buffer) {
        throw Error(
            "OUT_OF_MEMORY",
            "Could not allocate " + std::to_string(size >> 20) + " MiB in " + ggml_backend_buft_name(type) + ".",
            "Use a smaller context or model, or close other programs.");
    }
    return buffer;
}

}  // namespace kvasir
