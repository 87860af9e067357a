#include "device_memory.h"

#include <algorithm>
#include <bit>

#include "engine/error.h"

namespace kvasir {

namespace {

constexpr size_t kSmallest = size_t(64) << 10;
// A graph's memory grows by doubling up to this size, and by exactly what is needed beyond it.
constexpr size_t kMostSpare = size_t(256) << 20;

// Reserves `bytes` in `galloc`. If that fails, a smaller reservation may still succeed.
void reserve(ggml_gallocr * galloc, size_t bytes) {
    ContextPtr ctx = make_graph_context(1);
    ggml_cgraph * graph = ggml_new_graph_custom(ctx.get(), 1, false);
    ggml_tensor * all = ggml_new_tensor_1d(ctx.get(), GGML_TYPE_I8, int64_t(bytes));
    ggml_set_input(all);
    ggml_build_forward_expand(graph, all);
    ggml_gallocr_reserve(galloc, graph);
}

}  // namespace

DeviceMemory::DeviceMemory(ggml_backend_dev_t dev)
    : type_(ggml_backend_dev_buffer_type(dev)),
      host_(ggml_backend_dev_type(dev) == GGML_BACKEND_DEVICE_TYPE_CPU),
      name_(ggml_backend_dev_name(dev)) {}

DeviceMemory::Lease DeviceMemory::allocate(ggml_context * ctx) {
    // If one buffer is too small for all tensors, the first group stays allocated when the second allocation fails.
    const size_t needed = ggml_backend_alloc_ctx_tensors_from_buft_size(ctx, type_);
    const bool at_once = needed <= ggml_backend_buft_get_max_size(type_);
    for (;;) {
        try {
            return wrap(allocate_tensors(ctx, type_));
        } catch (const Error &) {
            if (!at_once || !made_room()) throw;
        }
    }
}

DeviceMemory::Lease DeviceMemory::allocate_for_pass(ggml_context * ctx) {
    const size_t needed = ggml_backend_alloc_ctx_tensors_from_buft_size(ctx, type_);
    if (host_ || needed > ggml_backend_buft_get_max_size(type_) / 2) return allocate(ctx);
    const auto size = [](const BufferPtr & b) { return ggml_backend_buffer_get_size(b.get()); };
    auto best = kept_.end();
    for (auto it = kept_.begin(); it != kept_.end(); ++it)
        if (size(*it) >= needed && (best == kept_.end() || size(*it) < size(*best))) best = it;
    BufferPtr buffer;
    if (best != kept_.end()) {
        buffer = std::move(*best);
        kept_.erase(best);
        ggml_backend_buffer_reset(buffer.get());
    } else {
        // Powers of two: the buffers of growing passes take at most twice the memory of the longest pass in total,
        // however slowly they grow.
        buffer.reset(ggml_backend_buft_alloc_buffer(type_, std::bit_ceil(std::max(needed, kSmallest))));
        if (!buffer) return allocate(ctx);  // which may fit, and reports it if it does not
    }
    ggml_tallocr place = ggml_tallocr_new(buffer.get());
    for (ggml_tensor * t = ggml_get_first_tensor(ctx); t; t = ggml_get_next_tensor(ctx, t)) {
        require((t->view_src ? ggml_backend_view_init(t) : ggml_tallocr_alloc(&place, t)) == GGML_STATUS_SUCCESS,
                "tensors fit the memory that was measured for them");
    }
    return {*this, std::move(buffer), true};
}

void DeviceMemory::give_back(BufferPtr buffer, bool keep) {
    if (keep) kept_.push_back(std::move(buffer));
}

void DeviceMemory::allocate_graph(ggml_gallocr * galloc, ggml_cgraph * graph) {
    const size_t before = ggml_gallocr_get_buffer_size(galloc, 0);
    size_t needed = 0;
    if (!host_) ggml_gallocr_reserve_n_size(galloc, graph, nullptr, nullptr, &needed);
    if (needed > before) {
        // Prompts and answers grow step by step; not every step should reallocate.
        if (needed <= kMostSpare) reserve(galloc, std::bit_ceil(needed));
    }
    do {
        const bool placed = needed <= before || ggml_gallocr_reserve(galloc, graph);
        if (placed && ggml_gallocr_alloc_graph(galloc, graph)) return;
    } while (made_room());
    throw Error("OUT_OF_MEMORY", "There is not enough memory for the computation on " + name_ + ".",
                "Use a shorter prompt or a smaller model.");
}

}  // namespace kvasir
