#include "backend.h"

#include <cstdlib>
#include <mutex>
#include <set>
#include <thread>

#include "error.h"
#include "landing.h"
#include "llama.h"

#ifdef __linux__
#include <fstream>
#endif

namespace kvasir {

namespace {

template <typename F> F proc(ggml_backend_reg_t reg, const char * name) {
    return reinterpret_cast<F>(ggml_backend_reg_get_proc_address(reg, name));
}

const char * kind_name(ggml_backend_dev_t dev) {
    switch (ggml_backend_dev_type(dev)) {
        case GGML_BACKEND_DEVICE_TYPE_CPU: return "cpu";
        case GGML_BACKEND_DEVICE_TYPE_GPU: return "gpu";
        case GGML_BACKEND_DEVICE_TYPE_IGPU: return "igpu";
        default: return "accel";
    }
}

using ThreadpoolNew = ggml_threadpool * (*)(ggml_threadpool_params *);
using ThreadpoolFree = void (*)(ggml_threadpool *);
using SetThreadpool = void (*)(ggml_backend_t, ggml_threadpool *);

}  // namespace

// All of them, of which ggml keeps the CPU library that suits this machine best. KVASIR_CPU ("haswell", "zen4" …) loads that CPU
// library and nothing else: for comparisons, nothing else should choose.
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

int default_threads() {
#ifdef __linux__
    // Physical cores: hyperthreads of one core share its vector units, so a second one only adds contention.
    std::set<std::string> cores;
    for (unsigned cpu = 0; cpu < std::thread::hardware_concurrency(); ++cpu) {
        std::ifstream f("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings");
        std::string line;
        if (std::getline(f, line)) cores.insert(line);
    }
    if (!cores.empty()) return int(cores.size());
#endif
    const unsigned n = std::thread::hardware_concurrency();
    return int(n <= 4 ? (n ? n : 4) : n / 2);
}

ContextPtr make_context(size_t tensors) {
    ggml_init_params params{ggml_tensor_overhead() * (tensors + 1), nullptr, true};
    ContextPtr ctx(ggml_init(params));
    if (!ctx) throw Error("OUT_OF_MEMORY", "There is not enough memory for a tensor table.");
    return ctx;
}

ContextPtr make_graph_context(size_t nodes) {
    // Twice: leaves and views are tensors, but no nodes.
    ContextPtr ctx(ggml_init({2 * nodes * ggml_tensor_overhead() + ggml_graph_overhead_custom(nodes, false), nullptr, true}));
    if (!ctx) throw Error("OUT_OF_MEMORY", "There is not enough memory for a graph.");
    return ctx;
}

BufferPtr allocate(ggml_context * ctx, ggml_backend_buffer_type_t type) {
    const size_t size = ggml_backend_alloc_ctx_tensors_from_buft_size(ctx, type);
    BufferPtr buffer(ggml_backend_alloc_ctx_tensors_from_buft(ctx, type));
    if (!buffer) {
        throw Error("OUT_OF_MEMORY",
                    "Could not allocate " + std::to_string(size >> 20) + " MiB in " + ggml_backend_buft_name(type) + ".",
                    "Use a smaller context or model, or close other programs.");
    }
    return buffer;
}

Compute::Compute(ggml_backend_dev_t device, int threads)
    : device_(device), host_(ggml_backend_dev_type(device) == GGML_BACKEND_DEVICE_TYPE_CPU) {
    backend_.reset(ggml_backend_dev_init(device, nullptr));
    if (!backend_) throw Error("ENGINE_FAILED", "The device " + name() + " could not be initialised.");
    graph_context_ = make_graph_context(kMostNodes);
    galloc_.reset(ggml_gallocr_new(buffer_type()));
    ggml_backend_reg_t reg = ggml_backend_dev_backend_reg(device);
    set_abort_ = proc<ggml_backend_set_abort_callback_t>(reg, "ggml_backend_set_abort_callback");
    if (auto extra = proc<ggml_backend_dev_get_extra_bufts_t>(reg, "ggml_backend_dev_get_extra_bufts")) {
        for (auto * type = extra(device); type && *type; ++type) weight_types_.push_back(*type);
    }
    weight_types_.push_back(ggml_backend_dev_buffer_type(device));
    if (!host_) return;
    auto set_n_threads = proc<ggml_backend_set_n_threads_t>(reg, "ggml_backend_set_n_threads");
    auto pool_new = proc<ThreadpoolNew>(reg, "ggml_threadpool_new");
    auto set_pool = proc<SetThreadpool>(reg, "ggml_backend_cpu_set_threadpool");
    require(set_n_threads && pool_new && set_pool, "the CPU backend lacks its thread pool functions");
    set_n_threads(backend_.get(), threads);
    ggml_threadpool_params params = ggml_threadpool_params_default(threads);
    pool_ = pool_new(&params);
    set_pool(backend_.get(), pool_);
}

Compute::~Compute() {
    backend_.reset();
    if (pool_) proc<ThreadpoolFree>(ggml_backend_dev_backend_reg(device_), "ggml_threadpool_free")(pool_);
}

Landing & Compute::landing() {
    if (!landing_) landing_ = std::make_unique<Landing>(device_);
    return *landing_;
}

ggml_context * Compute::graph_context() {
    ggml_reset(graph_context_.get());
    return graph_context_.get();
}

// Other devices' backends end the process when they meet an operation that they lack.
void Compute::check(ggml_cgraph * graph) const {
    for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) {
        const ggml_tensor * node = ggml_graph_node(graph, i);
        if (ggml_backend_dev_supports_op(device_, node)) continue;
        throw Error("ENGINE_FAILED", "The device " + name() + " cannot compute what this model needs (" + ggml_op_desc(node) + ").",
                    "Use the processor for this model.");
    }
}

void Compute::prepare(ggml_cgraph * graph) {
    if (!host_) check(graph);
    if (!ggml_gallocr_alloc_graph(galloc_.get(), graph)) {
        throw Error("OUT_OF_MEMORY", "There is not enough memory for the computation on " + name() + ".",
                    "Use a shorter prompt or a smaller model.");
    }
}

void Compute::run(ggml_cgraph * graph, const std::atomic<bool> * abort) {
    const auto poll = [](void * flag) { return static_cast<const std::atomic<bool> *>(flag)->load(std::memory_order_relaxed); };
    if (set_abort_) {
        set_abort_(backend_.get(), abort ? ggml_abort_callback(poll) : nullptr, const_cast<std::atomic<bool> *>(abort));
    }
    const ggml_status status = ggml_backend_graph_compute(backend_.get(), graph);
    if (status == GGML_STATUS_ABORTED || (abort && abort->load())) throw Error("ABORTED", "The computation was stopped.");
    if (status == GGML_STATUS_ALLOC_FAILED) throw Error("OUT_OF_MEMORY", "A computation on " + name() + " ran out of memory.");
    if (status != GGML_STATUS_SUCCESS) throw Error("ENGINE_FAILED", "A computation on " + name() + " failed.");
}

}  // namespace kvasir
