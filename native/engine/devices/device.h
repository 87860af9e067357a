#pragma once
// A ggml device with the state that the engine needs to compute on it.
//
// Thread safety: belongs to the model's thread, except its staging buffer, which a LayerLoader's thread fills. run()
// uses the threads of its pool and returns when they are done.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "backend.h"
#include "device_memory.h"
#include "engine/chunks/staging_buffer.h"
#include "engine/scheduling/thread_count.h"

namespace kvasir {

// A backend (one stream of work), its thread pool on the CPU, and memory to describe a graph and hold its results.
class Device {
  public:
    static constexpr size_t kMaxNodes = 256;

    // `threads` is the maximum, from which the fastest count is chosen; if `fixed`, the exact count.
    Device(ggml_backend_dev_t dev, int threads, bool fixed = false);
    ~Device();
    Device(const Device &) = delete;

    ggml_backend_dev_t dev() const { return dev_; }
    std::string name() const { return ggml_backend_dev_name(dev_); }
    bool is_host() const { return host_; }
    DeviceMemory & memory() { return memory_; }
    // Buffer types that hold weights for this device, fastest first.
    const std::vector<ggml_backend_buffer_type_t> & weight_types() const { return weight_types_; }

    // Where stored KV arrives on this device; created on first use.
    StagingBuffer & staging_buffer();

    // An empty context for a graph of at most kMaxNodes; invalidates what was built there before.
    ggml_context * graph_context();
    // Allocates the graph's tensors; then set the inputs and call run(). ENGINE_FAILED if the device lacks an
    // operation, OUT_OF_MEMORY.
    void prepare(ggml_cgraph * graph);
    // Runs a prepared graph to completion. ABORTED when `abort`, which any thread may set, becomes true (checked at
    // every node), and after end_passes().
    void run(ggml_cgraph * graph, const std::atomic<bool> * abort);
    // Runs `op` with `job` on every thread of the host's pool, as the only op of a graph.
    void run(ggml_custom_op_t op, void * job);

  private:
    void check(ggml_cgraph * graph) const;
    ggml_status compute(ggml_cgraph * graph);
    ggml_backend_t backend();

    ggml_backend_dev_t dev_;
    bool host_;
    bool anew_for_each_graph_;
    DeviceMemory memory_;
    BackendPtr backend_;
    ContextPtr graph_context_;
    GallocPtr galloc_;
    std::unique_ptr<StagingBuffer> staging_buffer_;
    using SetPool = void (*)(ggml_backend_t, ggml_threadpool *);
    ggml_threadpool * pool_ = nullptr;
    SetPool set_pool_ = nullptr;
    ggml_backend_set_n_threads_t set_threads_ = nullptr;
    ThreadCount threads_;
    void (*set_abort_)(ggml_backend_t, ggml_abort_callback, void *) = nullptr;
    std::vector<ggml_backend_buffer_type_t> weight_types_;
};

}  // namespace kvasir
