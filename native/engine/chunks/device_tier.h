#pragma once
// Stored chunks that stay in a device's separate memory, so that chunks used by one question after another cross the
// bus only once. A chunk enters on its second use, copied on the device from where it was staged. The least recently
// used chunk is evicted first, also when another allocation on the device fails; chunks held by an append stay.
//
// A chunk is identified by the store's key, which covers everything its KV depends on, and by its layers' checksums: a
// chunk recomputed to other bits is a different chunk. So the tier need not be notified when the store evicts or
// replaces a chunk.
//
// Thread safety: belongs to the model's thread; any thread may call has_device(), holds() and usage(). mutex_ guards
// whole_ and usage_.
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "chunk_kv.h"
#include "engine/kv/kv_pool.h"
#include "layer_loader.h"

namespace kvasir {

class DeviceTier {
  public:
    // Leaves room for what `sessions` may still allocate.
    DeviceTier(const Weights & weights, const KvPool & sessions);
    ~DeviceTier();
    DeviceTier(const DeviceTier &) = delete;

    // Whether any layer is on a device with separate memory; if not, nothing is ever kept.
    bool has_device() const { return device_ != nullptr; }
    // Limits the bytes that chunks may use, within the room that passes and sessions leave; nullopt: half of that room.
    void set_budget(std::optional<size_t> bytes);
    // Drops every chunk that no append holds; returns whether there was any.
    bool clear();

    // A chunk's rows in the layers on the device.
    struct Chunk {
        std::vector<uint64_t> checksums;
        ContextPtr ctx;
        BufferPtr memory;
        std::vector<ggml_tensor *> rows;  // by layer: [kv_dim, 2 · tokens], K then V; null for layers on the host
        std::vector<bool> filled;         // by layer

        size_t bytes() const { return ggml_backend_buffer_get_size(memory.get()); }
        // Rows from which a chunk can be placed; null for all other layers.
        std::vector<ggml_tensor *> placeable() const;
    };
    // An append places these chunks, which counts as one use of each. Returns for each chunk its entry, with room for
    // the layers still missing; null if it is not to be kept. The entries stay while somebody holds them.
    std::vector<std::shared_ptr<Chunk>> use(const std::vector<std::shared_ptr<const ChunkKv>> & chunks);
    // Copies a layer from where it was staged on the device, unless the entry already has it.
    void fill(Chunk & to, int il, const StoredLayer & staged);

    // Whether the chunk of this key needs no transfer: all rows that its last append placed are here.
    bool holds(const std::string & key) const;
    struct Usage {
        size_t bytes = 0;
        size_t limit = 0;  // as of the last append that placed chunks, or the last change of the budget
        size_t total = 0;  // of the device's memory
        int chunks = 0;
    };
    Usage usage() const;

  private:
    struct Known {
        uint64_t used = 0;  // the last append that used it
        std::shared_ptr<Chunk> chunk;  // null: only its use is remembered
    };
    using Entry = std::map<std::string, Known>::iterator;

    size_t bytes() const;
    size_t limit() const;
    std::shared_ptr<Chunk> admit(const ChunkKv & chunk);
    bool make_room(size_t needed);
    bool evict_one();
    void forget_old();
    void tell();  // publishes the state that other threads may read

    Device * device_ = nullptr;  // null: all layers are on the host
    const Weights & weights_;
    const KvPool & sessions_;
    std::optional<size_t> budget_;
    std::map<std::string, Known> known_;  // by store key
    uint64_t now_ = 0;                    // appends so far

    mutable std::mutex mutex_;
    std::set<std::string> whole_;
    Usage usage_;
};

}  // namespace kvasir
