#pragma once
// ggml's backends as the engine uses them: discovery, memory, owning handles.
//
// Thread safety: any thread may call these functions, after init_backends().
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
    size_t memory_free, memory_total;  // bytes
};

// Loads every backend library in `dir`, which must not contain GPU packs, and silences ggml and libllama. Idempotent.
// ENGINE_FAILED if there is none.
void init_backends(const std::string & dir);
// Loads a GPU backend library, whose devices are then listed too. DEVICE_FAILED with the reason if it cannot be loaded.
void load_pack(const std::string & path);
std::vector<DeviceInfo> list_devices();
// Free bytes on a device, less a reserve for passes, drivers and other programs.
size_t spare_memory(ggml_backend_dev_t dev);

// The device's own layouts for weights, besides plain memory, without a faulty one.
std::vector<ggml_backend_buffer_type_t> weight_layouts(ggml_backend_dev_t dev);
// Whether the processor has a layout with which products are wrong, and which libllama would choose. In ggml's AMX
// layout, only the first matrix of a stack of rows is multiplied, although it declares that it supports stacks: the
// others' results are missing, and memory is overwritten (ggml-org/llama.cpp#20824 is such a crash). Our own kernels
// use AMX with weights in plain memory.
bool has_faulty_layout();

// A context for tensor descriptions only; `tensors` is how many it must hold.
ContextPtr make_context(size_t tensors);
// Buffer for all unallocated tensors of `ctx`; OUT_OF_MEMORY if the allocation fails.
BufferPtr allocate_tensors(ggml_context * ctx, ggml_backend_buffer_type_t type);

// A context for the tensors of a graph of at most `nodes`, and the graph. Pages that no tensor uses are never touched.
ContextPtr make_graph_context(size_t nodes);

}  // namespace kvasir
