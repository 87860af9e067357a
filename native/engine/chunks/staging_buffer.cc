#include "staging_buffer.h"

#include <algorithm>
#include <bit>

#include "engine/error.h"

namespace kvasir {

namespace {

// One tensor of the widest rows, and views of it for the other row sizes.
std::map<int64_t, ggml_tensor *> rows_of(ggml_context * c, ggml_type type, const std::set<int64_t> & kv_dims,
                                         int64_t count) {
    ggml_tensor * widest = ggml_new_tensor_2d(c, type, *kv_dims.rbegin(), count);
    std::map<int64_t, ggml_tensor *> out;
    for (const int64_t kv_dim : kv_dims) {
        out[kv_dim] = kv_dim == widest->ne[0]
                          ? widest
                          : ggml_view_2d(c, widest, kv_dim, count, ggml_row_size(type, kv_dim), 0);
    }
    return out;
}

}  // namespace

StagingBuffer::StagingBuffer(ggml_backend_dev_t device, DeviceMemory & memory)
    : memory_(memory), stream_(ggml_backend_dev_init(device, nullptr)) {
    if (stream_) return;
    throw Error("ENGINE_FAILED",
                std::string("The device ") + ggml_backend_dev_name(device) + " could not be initialised.");
}

bool StagingBuffer::holds(const Size & size) const {
    return size.f16_rows <= size_.f16_rows && size.q8_0_rows <= size_.q8_0_rows && size.host_bytes <= size_.host_bytes;
}

void StagingBuffer::reserve(const std::set<int64_t> & kv_dims, const Size & size) {
    if (holds(size)) return;
    // By doubling, so that prompts of growing length do not reallocate each time.
    const auto grown = []<typename T>(T needed, T have) {
        return needed > have ? T(std::bit_ceil(uint64_t(needed))) : have;
    };
    const Size wanted{grown(size.f16_rows, size_.f16_rows), grown(size.q8_0_rows, size_.q8_0_rows),
                      grown(size.host_bytes, size_.host_bytes)};
    size_ = {};
    ggml_backend_dev_t device = ggml_backend_get_device(stream_.get());
    ggml_backend_buffer_type_t locked = ggml_backend_dev_host_buffer_type(device);
    for (Half & half : halves_) {
        half = {};  // first, so that old and new never exist together
        half.ctx = make_context(2 * kv_dims.size());
        for (const KvDtype dtype : {KvDtype::f16, KvDtype::q8_0}) {
            const int64_t count = dtype == KvDtype::f16 ? wanted.f16_rows : wanted.q8_0_rows;
            if (count) half.rows[dtype == KvDtype::q8_0] = rows_of(half.ctx.get(), dtype_ggml(dtype), kv_dims, count);
        }
        half.device = memory_.allocate(half.ctx.get());
        half.host.reset(
            ggml_backend_buft_alloc_buffer(locked ? locked : ggml_backend_cpu_buffer_type(), wanted.host_bytes));
        if (half.host) continue;
        const std::string name = ggml_backend_dev_name(device);
        throw Error("OUT_OF_MEMORY", "There is not enough memory to copy passages to " + name + ".",
                    "Use a shorter prompt, or close other programs.");
    }
    size_ = wanted;
}

void StagingBuffer::copy(int half, KvDtype dtype, int64_t kv_dim, int64_t first, const uint8_t * from, size_t count) {
    ggml_tensor * to = rows(half, dtype, kv_dim);
    ggml_backend_tensor_set_async(stream_.get(), to, from, size_t(first) * to->nb[1], count * to->nb[1]);
}

void StagingBuffer::finish() { ggml_backend_synchronize(stream_.get()); }

}  // namespace kvasir
