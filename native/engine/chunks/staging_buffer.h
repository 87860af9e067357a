#pragma once
// Where stored KV arrives on a device with separate memory. A double buffer: one layer's rows arrive, over a separate
// stream, while the device computes from those of the previous layer.
//
// Thread safety: reserve() belongs to the model's thread, while nothing loads. Afterwards one thread at a time, which
// need not be the computing one, uses a half's host() and calls copy() and finish(); the computing thread may read the
// other half's rows().
#include <map>
#include <set>

#include "engine/devices/device_memory.h"
#include "engine/kv/kv_dtype.h"

namespace kvasir {

class StagingBuffer {
  public:
    StagingBuffer(ggml_backend_dev_t device, DeviceMemory & memory);

    // Capacity of a half: rows of each number format, and bytes staged on the host.
    struct Size {
        int64_t f16_rows = 0, q8_0_rows = 0;
        size_t host_bytes = 0;
    };
    // Gives both halves at least this capacity for rows of each of these sizes, which must not change between calls;
    // may discard the contents. OUT_OF_MEMORY.
    void reserve(const std::set<int64_t> & kv_dims, const Size & size);

    // Host memory to read files into; page-locked if the device supports it, since only then are copies asynchronous.
    uint8_t * host(int half) { return static_cast<uint8_t *>(ggml_backend_buffer_get_base(halves_[half].host.get())); }
    // [kv_dim, rows] on the device; all row sizes share the same memory.
    ggml_tensor * rows(int half, KvDtype dtype, int64_t kv_dim) const {
        return halves_[half].rows[dtype == KvDtype::q8_0].at(kv_dim);
    }

    // Starts to copy `count` rows from `from` to row `first`. Until finish() returns, nothing may read those rows, and
    // `from` must not change.
    void copy(int half, KvDtype dtype, int64_t kv_dim, int64_t first, const uint8_t * from, size_t count);
    void finish();

  private:
    struct Half {
        ContextPtr ctx;
        DeviceMemory::Lease device;
        BufferPtr host;
        std::map<int64_t, ggml_tensor *> rows[2];  // f16, q8_0: by row size
    };
    bool holds(const Size & size) const;

    DeviceMemory & memory_;
    BackendPtr stream_;
    Size size_;
    Half halves_[2];
};

}  // namespace kvasir
