#include "staging_buffer.h"

#include <algorithm>
#include <bit>

#include "error.h"

namespace kvasir {

StagingBuffer::StagingBuffer(ggml_backend_dev_t device, DeviceMemory & memory)
    : memory_(memory), stream_(ggml_backend_dev_init(device, nullptr)) {
    if (stream_) return;
    throw Error("ENGINE_FAILED",
                std::string("The device ") + ggml_backend_dev_name(device) + " could not be initialised.");
}

bool StagingBuffer::holds(const Size & size) const {
    return size.f16_rows <= size_.f16_rows && size.q8_0_rows <= size_.q8_0_rows && size.host_bytes <= size_.host_bytes;
}

void StagingBuffer::reserve(int64_t kv_dim, const Size & size) {
    if (holds(size)) return;
    // By doubling, so that prompts of growing length do not make new buffers each.
    const auto grown = []<typename T>(T needed, T have) {
        return needed > have ? T(std::bit_ceil(uint64_t(needed))) : have;
    };
    const Size wanted{grown(size.f16_rows, size_.f16_rows), grown(size.q8_0_rows, size_.q8_0_rows),
                      grown(size.host_bytes, size_.host_bytes)};
    size_ = {};
    ggml_backend_dev_t device = ggml_backend_get_device(stream_.get());
    ggml_backend_buffer_type_t locked = ggml_backend_dev_host_buffer_type(device);
    for (Half & half : halves_) {
        half = {};  // first, so that old and new are never there at once
        half.ctx = make_context(2);
        if (wanted.f16_rows) half.rows[0] = ggml_new_tensor_2d(half.ctx.get(), GGML_TYPE_F16, kv_dim, wanted.f16_rows);
        if (wanted.q8_0_rows) {
            half.rows[1] = ggml_new_tensor_2d(half.ctx.get(), GGML_TYPE_Q8_0, kv_dim, wanted.q8_0_rows);
        }
        half.device = memory_.allocate(half.ctx.get());
        half.host.reset(
            ggml_backend_buft_alloc_buffer(locked ? locked : ggml_backend_cpu_buffer_type(), wanted.host_bytes));
        if (half.host) continue;
        const std::string name = ggml_backend_dev_name(device);
        throw Error("OUT_OF_MEMORY", "There is not enough memory to bring passages to " + name + ".",
                    "Use a shorter prompt, or close other programs.");
    }
    size_ = wanted;
}

void StagingBuffer::copy(int half, KvDtype dtype, int64_t first, const uint8_t * from, size_t count) {
    ggml_tensor * to = rows(half, dtype);
    ggml_backend_tensor_set_async(stream_.get(), to, from, size_t(first) * to->nb[1], count * to->nb[1]);
}

void StagingBuffer::finish() { ggml_backend_synchronize(stream_.get()); }

}  // namespace kvasir
