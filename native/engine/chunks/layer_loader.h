#pragma once
// Loads the chunks' KV to where their layers compute, ahead of the computation. A placed layer is no longer needed:
// while layer i computes, layer i + 1 of every chunk is loaded, and a thread reads layer i + 2 and, if that layer is on
// a device with separate memory, copies it there. It also unpacks packed formats. For layers on the host, chunks in
// memory that are not packed cost nothing; the same goes for rows already on the device. For chunks that arrive from
// elsewhere the thread waits.
//
// Thread safety: the model's thread constructs, calls and destroys the loader, which runs its own loading thread. A
// slot belongs to the loading thread from release() of its layer until `layer` names the next one, then to the model's
// thread. mutex_ guards Slot::layer, released_ and failure_; stop_ is also read without it.
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "chunk_kv.h"
#include "engine/clock.h"
#include "engine/gguf/weights.h"

namespace kvasir {

// How layers are loaded. Anything but the default is for comparisons.
struct LoadOptions {
    bool serial = false;          // load a layer on request, instead of while the previous one computes
    double bytes_per_second = 0;  // > 0: limits the speed, to simulate a slow disk or network
};

// One layer of a whole chunk, K then V, ready to be placed: on the host, or in rows [first, first + 2 n) of a tensor
// [kv_dim, …] on a device.
struct StoredLayer {
    const uint8_t * host = nullptr;
    ggml_tensor * rows = nullptr;
    int64_t first = 0;
};

class LayerLoader {
  public:
    struct Loaded {
        std::vector<StoredLayer> chunks;  // per chunk
        double start_ms = 0, end_ms = 0;  // since `origin`: reading and copying
        size_t bytes = 0;                 // read from files, or arrived
        size_t crossed = 0;               // copied to a device
    };
    // A chunk, and per layer its rows [kv_dim, …] already on the device, or null if they have to be loaded; empty: load
    // all layers.
    struct Wanted {
        std::shared_ptr<const ChunkKv> chunk;
        std::vector<ggml_tensor *> there;
        int segment = -1;  // of the append, for errors
    };

    // Loads layers in order, starting at `first`. The devices of `weights` support one loader at a time. `abort` ends
    // waiting for layers that arrive; null: waiting is never aborted. OUT_OF_MEMORY; CHUNK_CORRUPT and CHUNK_UNREADABLE
    // as wait().
    LayerLoader(std::vector<Wanted> chunks, int first, const Weights & weights, LoadOptions options,
                Clock::time_point origin, const std::atomic<bool> * abort);
    ~LayerLoader();

    // Waits for layer `il`; layers must be requested in order. The result is valid until release(). Rethrows the
    // loading thread's exception, with Error::chunk_index set to the chunk's segment. ABORTED while a layer
    // has not arrived.
    const Loaded & wait(int il);
    // Whether wait() may depend on a network; then it is called without holding the turn.
    bool is_far(int il);
    // Allows layers up to `il` to be overwritten. This, not wait(), wakes the loading thread: if every core is busy it
    // displaces a computing thread, so the next layer should already be loaded by the time of wait().
    void release(int il);

  private:
    struct Slot {
        Loaded loaded;
        std::unique_ptr<uint8_t[]> storage;  // for every chunk that is read or unpacked
        int layer = -1;
    };
    ggml_tensor * there(size_t chunk, int il) const;
    KvDtype dtype(size_t chunk) const { return chunks_[chunk].chunk->shape().dtype; }
    void open_files();
    bool reserve_staging();
    size_t file_bytes(int il) const;
    size_t arriving_bytes(int il) const;
    size_t crossing_bytes(int il) const;
    size_t host_bytes(int il) const;
    StagingBuffer * staging_buffer(int il) const;
    void run();
    void load(int il, Slot & slot);
    void load_chunks(int il, Slot & slot);
    // Returns the chunk's layer as stored, read to `to` or in place where it arrived.
    const uint8_t * bring(size_t chunk, int il, uint8_t * to) const;
    bool stopped() const { return stop_ || (abort_ && *abort_); }
    void throttle(Clock::time_point start, size_t bytes) const;

    std::vector<Wanted> chunks_;
    std::vector<std::shared_ptr<const InputFile>> files_;  // null for chunks of which nothing is read
    std::vector<bool> arriving_;                     // those not in memory at the beginning
    std::vector<int64_t> first_rows_;                // where a chunk is staged among those of its number format
    size_t most_host_bytes_ = 0;                     // maximum over all layers
    std::unique_ptr<uint8_t[]> packed_;              // a packed layer of one chunk, while it is unpacked
    const Weights & weights_;
    int first_, n_layer_;
    LoadOptions options_;
    Clock::time_point origin_;
    const std::atomic<bool> * abort_;
    Slot slots_[2];
    std::mutex mutex_;
    std::condition_variable changed_;
    int released_;  // layers below this one may be overwritten
    std::atomic<bool> stop_{false};
    std::exception_ptr failure_;
    std::thread thread_;
};

}  // namespace kvasir
