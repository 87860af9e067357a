#pragma once
// Brings the chunks' KV to the host one layer ahead of the computation: while layer i computes, a thread reads layer
// i + 1 of every chunk. Chunks in memory cost nothing.
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "chunk_kv.h"

namespace kvasir {

using Clock = std::chrono::steady_clock;

class LayerLoader {
  public:
    struct Loaded {
        std::vector<const uint8_t *> chunks;  // per chunk: K then V of this layer
        double start_ms = 0, end_ms = 0;      // since `origin`
        size_t bytes = 0;                     // read from files
    };

    // Loads layers [first, n_layer) in order. `chunks` must outlive the loader.
    LayerLoader(std::vector<std::shared_ptr<const ChunkKv>> chunks, int first, int n_layer, Clock::time_point origin);
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

    std::vector<std::shared_ptr<const ChunkKv>> chunks_;
    std::vector<std::unique_ptr<InputFile>> files_;  // null for chunks in memory
    int first_, n_layer_;
    Clock::time_point origin_;
    Slot slots_[2];
    std::mutex mutex_;
    std::condition_variable changed_;
    int released_;  // layers below this one may be overwritten
    bool stop_ = false;
    std::exception_ptr failure_;
    std::thread thread_;
};

}  // namespace kvasir
