#pragma once
// Brings the chunks' KV to the host one layer ahead of the computation: while layer i computes, a thread reads layer
// i + 1 of every chunk. Chunks in memory cost nothing.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "chunk_kv.h"

namespace kvasir {

using Clock = std::chrono::steady_clock;

// How layers are brought in. Anything but the default is for comparisons.
struct LoadPlan {
    bool serial = false;          // load a layer when it is asked for, instead of while the one before computes
    double bytes_per_second = 0;  // > 0: no faster than this, as from a slow disk or a network
};

class LayerLoader {
  public:
    struct Loaded {
        std::vector<const uint8_t *> chunks;  // per chunk: K then V of this layer
        double start_ms = 0, end_ms = 0;      // since `origin`
        size_t bytes = 0;                     // read from files
    };

    // Loads layers [first, n_layer) in order. `chunks` must outlive the loader.
    LayerLoader(std::vector<std::shared_ptr<const ChunkKv>> chunks, int first, int n_layer, LoadPlan plan, Clock::time_point origin);
    ~LayerLoader();

    // Waits for layer `il`; layers must be asked for in order. Valid until the next call. Rethrows what reading threw,
    // with Error::chunk_index set to the chunk's index in `chunks`.
    const Loaded & wait(int il);

  private:
    struct Slot {
        Loaded loaded;
        std::vector<uint8_t> storage;
        int layer = -1;
    };
    void run();
    void load(int il, Slot & slot);
    void hold_back(Clock::time_point start, size_t bytes) const;

    std::vector<std::shared_ptr<const ChunkKv>> chunks_;
    std::vector<std::unique_ptr<InputFile>> files_;  // null for chunks in memory
    int first_, n_layer_;
    LoadPlan plan_;
    Clock::time_point origin_;
    Slot slots_[2];
    std::mutex mutex_;
    std::condition_variable changed_;
    int released_;  // layers below this one may be overwritten
    std::atomic<bool> stop_{false};
    std::exception_ptr failure_;
    std::thread thread_;
};

}  // namespace kvasir
