#include "backend.h"

#include <cstdlib>
#include <mutex>

#include "error.h"
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

}  // namespace

// All of them, of which ggml keeps the CPU library that suits this machine best. KVASIR_CPU ("haswell", "zen4" …) loads
// that CPU library and nothing else: for comparisons, nothing else should choose.
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
        const auto silent = [](ggml_log_level, const char *, void *) {};
        ggml_log_set(silent, nullptr);
        llama_log_set(silent, nullptr);
        load_libraries(dir);
        llama_backend_init();
    });
    if (!ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU)) {
        if (const char * cpu = std::getenv("KVASIR_CPU"); cpu && *cpu) {
            throw Error("ENGINE_FAILED",
                        "KVASIR_CPU asks for ggml's library for \"" + std::string(cpu) + "\", which is not in " + dir +
                            " or needs another processor than this one.",
                        "Unset KVASIR_CPU, or name another library.");
        }
        throw Error("ENGINE_FAILED", "No ggml CPU backend was found in " + dir + ".", "Run `npm run setup` again.");
    }
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

ContextPtr make_context(size_t tensors) {
    ggml_init_params params{ggml_tensor_overhead() * (tensors + 1), nullptr, true};
    ContextPtr ctx(ggml_init(params));
    if (!ctx) throw Error("OUT_OF_MEMORY", "There is not enough memory for a tensor table.");
    return ctx;
}

ContextPtr make_graph_context(size_t nodes) {
    // Twice: leaves and views are tensors, but no nodes.
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
