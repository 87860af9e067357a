// Tells ThreadSanitizer how ggml's threads wait for each other: its libraries are built without it, and their barriers
// are atomics that it cannot see. In other builds this file is empty. tools/sanitize.ts lists the suppressions.
//
// The test program's functions replace those of the libraries: before a graph, the calling thread releases each node
// with an operation of ours, which acquires it in every thread that runs it; the barrier after each node orders all.
#ifdef __SANITIZE_THREAD__
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>

#include <deque>
#include <mutex>

#include "engine/error.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

namespace {

template <typename Function>
Function * next(Function *, const char * name) {
    auto * found = reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
    kvasir::require(found, name);
    return found;
}

// The library with ggml's threads is chosen for the processor at run time, so RTLD_NEXT does not find it.
void (*barrier_of_library())(ggml_threadpool *) {
    void * in_it = ggml_backend_reg_get_proc_address(ggml_backend_reg_by_name("CPU"), "ggml_threadpool_new");
    Dl_info library;
    kvasir::require(in_it && dladdr(in_it, &library), "ggml's CPU library was not found");
    void * handle = dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    auto * found = reinterpret_cast<void (*)(ggml_threadpool *)>(dlsym(handle, "ggml_barrier"));
    kvasir::require(found, "ggml_barrier was not found");
    return found;
}

struct Operation {
    ggml_custom_op_t run;
    void * userdata;
};

// Kept to the end of the process: graphs may be computed again at any time.
Operation * keep(Operation operation) {
    static std::mutex mutex;
    static std::deque<Operation> all;
    const std::lock_guard lock(mutex);
    return &all.emplace_back(operation);
}

void run_acquired(ggml_tensor * node, int thread, int threads, void * userdata) {
    __tsan_acquire(node);
    const auto & [run, its] = *static_cast<Operation *>(userdata);
    run(node, thread, threads, its);
}

}  // namespace

extern "C" {

#define KVASIR_REPLACES __attribute__((visibility("default")))

// A library that is named in a suppression must stay; ggml closes those that it does not choose.
KVASIR_REPLACES int dlclose(void *) { return 0; }

KVASIR_REPLACES void ggml_barrier(ggml_threadpool * pool) {
    static const auto wait = barrier_of_library();
    __tsan_release(pool);
    wait(pool);
    __tsan_acquire(pool);
}

ggml_status ggml_backend_graph_compute(ggml_backend_t backend, ggml_cgraph * graph) {
    static const auto compute = next(ggml_backend_graph_compute, "ggml_backend_graph_compute");
    for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) {
        ggml_tensor * node = ggml_graph_node(graph, i);
        if (node->op == GGML_OP_CUSTOM) __tsan_release(node);
    }
    return compute(backend, graph);
}

ggml_tensor * ggml_custom_4d(ggml_context * ctx, ggml_type type, int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3,
                             ggml_tensor ** args, int n_args, ggml_custom_op_t run, int n_tasks, void * userdata) {
    static const auto make = next(ggml_custom_4d, "ggml_custom_4d");
    Operation * kept = keep({run, userdata});
    return make(ctx, type, ne0, ne1, ne2, ne3, args, n_args, run_acquired, n_tasks, kept);
}

}
#endif
