#pragma once
// ggml's backends as the engine uses them: discovery, one compute object per device, owning handles.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "ggml-alloc.h"
#include "ggml-backend.h"
#include "ggml.h"

namespace kvasir {

template <auto F> struct Deleter {
    template <typename T> void operator()(T * p) const { F(p); }
};
using ContextPtr = std::unique_ptr<ggml_context, Deleter<ggml_free>>;
using BufferPtr = std::unique_ptr<ggml_backend_buffer, Deleter<ggml_backend_buffer_free>>;
using BackendPtr = std::unique_ptr<ggml_backend, Deleter<ggml_backend_free>>;
using GallocPtr = std::unique_ptr<ggml_gallocr, Deleter<ggml_gallocr_free>>;

struct DeviceInfo {
    std::string name, description, kind;
    size_t memory_free, memory_total;
};

// Loads every backend library in `dir` and silences ggml and libllama. Idempotent.
void init_backends(const std::string & dir);
std::vector<DeviceInfo> list_devices();
int default_threads();

// A context for tensor descriptions only; `tensors` is how many it must hold.
ContextPtr make_context(size_t tensors);
// Buffer for all unallocated tensors of `ctx`; OUT_OF_MEMORY when it can't be had.
BufferPtr allocate(ggml_context * ctx, ggml_backend_buffer_type_t type);

// A context for the tensors of a graph of at most `nodes`, and the graph itself. Pages that no tensor needs are never touched.
ContextPtr make_graph_context(size_t nodes);

class Landing;

// One device's stream of work: backend, its thread pool on the CPU, room to describe a graph and to hold its results.
// Not thread-safe: one compute object belongs to one thread at a time.
class Compute {
  public:
    static constexpr size_t kMostNodes = 256;

    Compute(ggml_backend_dev_t device, int threads);
    ~Compute();
    Compute(const Compute &) = delete;

    ggml_backend_dev_t device() const { return device_; }
    std::string name() const { return ggml_backend_dev_name(device_); }
    bool is_host() const { return host_; }
    ggml_backend_buffer_type_t buffer_type() const { return ggml_backend_get_default_buffer_type(backend_.get()); }
    // Buffer types that hold weights for this device, fastest first.
    const std::vector<ggml_backend_buffer_type_t> & weight_types() const { return weight_types_; }

    // Where stored KV arrives on this device; made when it is first asked for.
    Landing & landing();

    // Room for a graph of at most kMostNodes, empty: what was built there before is gone.
    ggml_context * graph_context();
    // Allocates the graph's tensors; inputs may be set afterwards, then run(). ENGINE_FAILED when the device lacks an operation.
    void prepare(ggml_cgraph * graph);
    // Runs a prepared graph to its end. ABORTED when `abort` turns true (checked at every node).
    void run(ggml_cgraph * graph, const std::atomic<bool> * abort);

  private:
    void check(ggml_cgraph * graph) const;

    ggml_backend_dev_t device_;
    bool host_;
    BackendPtr backend_;
    ContextPtr graph_context_;
    GallocPtr galloc_;
    std::unique_ptr<Landing> landing_;
    ggml_threadpool * pool_ = nullptr;
    void (*set_abort_)(ggml_backend_t, ggml_abort_callback, void *) = nullptr;
    std::vector<ggml_backend_buffer_type_t> weight_types_;
};

}  // namespace kvasir
