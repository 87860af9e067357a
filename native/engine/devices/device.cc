#include "device.h"

#include "engine/abort.h"
#include "engine/error.h"

namespace kvasir {

namespace {

template <typename F> F proc(ggml_backend_reg_t reg, const char * name) {
    return reinterpret_cast<F>(ggml_backend_reg_get_proc_address(reg, name));
}

using ThreadpoolNew = ggml_threadpool * (*)(ggml_threadpool_params *);
using ThreadpoolFree = void (*)(ggml_threadpool *);

// Rounds of 131,072 that a thread of the pool polls for the next graph before it sleeps: about a millisecond, longer
// than the gap between two layers.
constexpr uint32_t kPoll = 1;

// Whether a backend of this device may compute only one graph. ggml-vulkan reuses its descriptor sets from graph to
// graph and rewrites only the slots that an operation uses; the other slots keep naming memory that may be freed by
// then, often its own work buffers that were reallocated. Vulkan allows that, since no shader reads them. Mesa's
// lavapipe (22.3) counts references through all slots, and so writes into freed memory. New sets name nothing.
bool counts_through_unused_descriptors(ggml_backend_dev_t dev) {
    return std::string(ggml_backend_dev_description(dev)).find("llvmpipe") != std::string::npos;
}

}  // namespace

Device::Device(ggml_backend_dev_t dev, int threads, bool fixed)
    : dev_(dev),
      host_(ggml_backend_dev_type(dev) == GGML_BACKEND_DEVICE_TYPE_CPU),
      anew_for_each_graph_(counts_through_unused_descriptors(dev)),
      memory_(dev),
      threads_(threads, fixed) {
    backend();
    graph_context_ = make_graph_context(kMaxNodes);
    galloc_.reset(ggml_gallocr_new(memory_.type()));
    ggml_backend_reg_t reg = ggml_backend_dev_backend_reg(dev);
    set_abort_ = proc<ggml_backend_set_abort_callback_t>(reg, "ggml_backend_set_abort_callback");
    weight_types_ = weight_layouts(dev);
    weight_types_.push_back(ggml_backend_dev_buffer_type(dev));
    if (!host_) return;
    set_threads_ = proc<ggml_backend_set_n_threads_t>(reg, "ggml_backend_set_n_threads");
    auto pool_new = proc<ThreadpoolNew>(reg, "ggml_threadpool_new");
    set_pool_ = proc<SetPool>(reg, "ggml_backend_cpu_set_threadpool");
    require(set_threads_ && pool_new && set_pool_, "the CPU backend lacks its thread pool functions");
    set_threads_(backend_.get(), threads);
    ggml_threadpool_params params = ggml_threadpool_params_default(threads);
    params.poll = kPoll;
    pool_ = pool_new(&params);
    set_pool_(backend_.get(), pool_);
}

Device::~Device() {
    backend_.reset();
    if (pool_) proc<ThreadpoolFree>(ggml_backend_dev_backend_reg(dev_), "ggml_threadpool_free")(pool_);
}

ggml_backend_t Device::backend() {
    if (backend_ && !anew_for_each_graph_) return backend_.get();
    backend_.reset();
    backend_.reset(ggml_backend_dev_init(dev_, nullptr));
    if (!backend_) throw Error("ENGINE_FAILED", "The device " + name() + " could not be initialised.");
    return backend_.get();
}

StagingBuffer & Device::staging_buffer() {
    if (!staging_buffer_) staging_buffer_ = std::make_unique<StagingBuffer>(dev_, memory_);
    return *staging_buffer_;
}

ggml_context * Device::graph_context() {
    ggml_reset(graph_context_.get());
    return graph_context_.get();
}

// Backends of other devices abort the process on an operation that they do not support.
void Device::check(ggml_cgraph * graph) const {
    for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) {
        const ggml_tensor * node = ggml_graph_node(graph, i);
        if (ggml_backend_dev_supports_op(dev_, node)) continue;
        throw Error("ENGINE_FAILED",
                    "The device " + name() + " cannot compute what this model needs (" + ggml_op_desc(node) + ").",
                    "Run this model on the CPU.");
    }
}

void Device::prepare(ggml_cgraph * graph) {
    if (!host_) check(graph);
    memory_.allocate_graph(galloc_.get(), graph);
}

ggml_status Device::compute(ggml_cgraph * graph) {
    ggml_backend_t stream = backend();
    const auto compute = [&] { return ggml_backend_graph_compute(stream, graph); };
    if (!host_) return compute();
    const auto set = [&](int count) {
        set_threads_(stream, count);
        // With one thread there is no need to wake the pool at each graph.
        set_pool_(stream, count > 1 ? pool_ : nullptr);
    };
    return threads_.run(set, compute);
}

void Device::run(ggml_custom_op_t op, void * job) {
    ggml_context * c = graph_context();
    ggml_cgraph * g = ggml_new_graph_custom(c, 4, false);
    ggml_build_forward_expand(g, ggml_custom_4d(c, GGML_TYPE_F32, 1, 1, 1, 1, nullptr, 0, op, GGML_N_TASKS_MAX, job));
    prepare(g);
    run(g, nullptr);
}

void Device::run(ggml_cgraph * graph, const std::atomic<bool> * abort) {
    const auto poll = [](void * flag) { return is_aborted(static_cast<const std::atomic<bool> *>(flag)); };
    ggml_backend_t stream = backend();
    if (set_abort_) set_abort_(stream, poll, const_cast<std::atomic<bool> *>(abort));
    const ggml_status status = compute(graph);
    if (status == GGML_STATUS_ABORTED || is_aborted(abort)) {
        throw Error("ABORTED", "The computation was stopped.");
    }
    if (status == GGML_STATUS_ALLOC_FAILED) {
        throw Error("OUT_OF_MEMORY", "A computation on " + name() + " ran out of memory.");
    }
    if (status != GGML_STATUS_SUCCESS) throw Error("ENGINE_FAILED", "A computation on " + name() + " failed.");
}

}  // namespace kvasir
