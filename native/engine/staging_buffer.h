#pragma once
// Where stored KV arrives on a device whose memory is not the host's. It is a double buffer: one layer's rows arrive,
// over a stream of their own, while the device computes from those of the layer before.
//
// Thread safety: reserve() is the model's thread's, while nothing loads. After it one thread at a time, which may be
// another than computes, uses a half's host() and calls copy() and finish(); whoever computes may read the other half's
// rows().
#include <map>
#include <set>

#include "device_memory.h"
#include "kv_dtype.h"

namespace kvasir {

class StagingBuffer {
  public:
    StagingBuffer(ggml_backend_dev_t device, DeviceMemory & memory);

    // What a half has room for: rows of each number format, and bytes on their way through the host.
    struct Size {
        int64_t f16_rows = 0, q8_0_rows = 0;
        size_t host_bytes = 0;
    };
    // Gives both halves at least that room for rows of each of these sizes, always the same ones; what was in them may
    // be gone. OUT_OF_MEMORY.
    void reserve(const std::set<int64_t> & kv_dims, const Size & size);

    // Memory of the host to read files into; page-locked where the device offers it, since only then do copies from it
    // go on by themselves.
    uint8_t * host(int half) { return static_cast<uint8_t *>(ggml_backend_buffer_get_base(halves_[half].host.get())); }
    // [kv_dim, rows] on the device: the same memory for each size of rows.
    ggml_tensor * rows(int half, KvDtype dtype, int64_t kv_dim) const {
        return halves_[half].rows[dtype == KvDtype::q8_0].at(kv_dim);
    }

    // Begins to copy `count` rows from `from` to row `first`. Nothing may read those rows, and `from` must stay as it
    // is, until finish() has returned.
    void copy(int half, KvDtype dtype, int64_t kv_dim, int64_t first, const uint8_t * from, size_t count);
    void finish();

  private:
    struct Half {
        ContextPtr ctx;
        DeviceMemory::Lease device;
        BufferPtr host;
        std::map<int64_t, ggml_tensor *> rows[2];  // f16, q8_0: by their size
    };
    bool holds(const Size & size) const;

    DeviceMemory & memory_;
    BackendPtr stream_;
    Size size_;
    Half halves_[2];
};

}  // namespace kvasir
