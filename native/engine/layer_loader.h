#pragma once
// Brings the chunks' KV to where their layers compute, ahead of the computation. A layer that is placed is no longer
// needed: while layer i computes, layer i + 1 of every chunk is there, and a thread reads layer i + 2 and, where that
// lives on a device with memory of its own, copies it there. For layers on the host, chunks in memory cost nothing; nor
// does what is on the device already. For layers of chunks that arrive from elsewhere the thread waits.
//
// Thread safety: the model's thread makes, asks and destroys it; its own thread loads. A slot belongs to the loading
// thread from release() of the layer in it until `layer` says that the next one is there, then to the model's thread.
// mutex_ guards Slot::layer, released_ and failure_; stop_ is also read without it.
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "chunk_kv.h"
#include "clock.h"
#include "weights.h"

namespace kvasir {

// How layers are brought in. Anything but the default is for comparisons.
struct LoadOptions {
    bool serial = false;          // load a layer when it is asked for, instead of while the one before computes
    double bytes_per_second = 0;  // > 0: no faster than this, as from a slow disk or a network
};

// One layer of a whole chunk, K then V, where it can be placed from: on the host, or in rows [first, first + 2 n) of a
// tensor [kv_dim, …] on a device.
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
    // A chunk, and by layer its rows [kv_dim, …] that are on the device already, null where they are to be loaded; no
    // layers: all are.
    struct Wanted {
        std::shared_ptr<const ChunkKv> chunk;
        std::vector<ggml_tensor *> there;
    };

    // Loads layers from `first` on in order. One loader at a time for the devices of `weights`. `abort`: ends waiting
    // for layers that arrive; null: nothing does. OUT_OF_MEMORY.
    LayerLoader(std::vector<Wanted> chunks, int first, const Weights & weights, LoadOptions options,
                Clock::time_point origin, const std::atomic<bool> * abort);
    ~LayerLoader();

    // Waits for layer `il`; layers must be asked for in order. Valid until it is released. Rethrows what reading threw,
    // with Error::chunk_index set to the chunk's index in `chunks`. ABORTED while a layer has not arrived.
    const Loaded & wait(int il);
    // Whether wait() may take as long as a network does: then it is called without the turn.
    bool is_far(int il);
    // Layers up to `il` may be overwritten. The thread wakes here, not in wait(): where every core is busy it takes the
    // place of a thread that computes, and the next layer should be there already by then.
    void release(int il);

  private:
    struct Slot {
        Loaded loaded;
        std::unique_ptr<uint8_t[]> storage;  // of every chunk that is read
        int layer = -1;
    };
    ggml_tensor * there(size_t chunk, int il) const;
    void open_files();
    bool reserve_staging();
    size_t file_bytes(int il) const;
    size_t arriving_bytes(int il) const;
    size_t crossing_bytes(int il) const;
    StagingBuffer * staging_buffer(int il) const;
    void run();
    void load(int il, Slot & slot);
    void load_chunks(int il, Slot & slot);
    // The chunk's layer, read to `to` or where it arrived.
    const uint8_t * bring(size_t chunk, int il, uint8_t * to) const;
    bool stopped() const { return stop_ || (abort_ && *abort_); }
    void throttle(Clock::time_point start, size_t bytes) const;

    std::vector<Wanted> chunks_;
    std::vector<std::shared_ptr<const InputFile>> files_;  // null for chunks of which nothing is read
    std::vector<bool> arriving_;                     // those that were not in memory at the beginning
    std::vector<int64_t> first_rows_;                // where a chunk is staged among those of its number format
    size_t most_file_bytes_ = 0;                     // of any layer
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
