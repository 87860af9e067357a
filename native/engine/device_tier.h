#pragma once
// Stored chunks that stay in a device's own memory, so that those which question after question uses cross the bus
// once. A chunk enters with its second use, by a copy on the device from where it was staged; the least recently used
// goes first, also when something else finds no memory on the device; what an append holds stays.
//
// A chunk is known by the store's key, which says all that its KV depends on, and by the checksums of its layers: one
// that was computed anew, to other bits, is another one. So nothing has to be told when the store evicts or replaces.
//
// Thread safety: belongs to the model's thread; has_device(), holds() and usage() any thread may call. mutex_ guards
// whole_ and usage_.
#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "chunk_kv.h"
#include "kv_pool.h"
#include "layer_loader.h"

namespace kvasir {

class DeviceTier {
  public:
    // `sessions`: what they may yet take is left to them.
    DeviceTier(const Weights & weights, const KvPool & sessions);
    ~DeviceTier();
    DeviceTier(const DeviceTier &) = delete;

    // Whether any layer lives on a device with memory of its own: else nothing is ever kept.
    bool has_device() const { return device_ != nullptr; }
    // How many bytes chunks may fill, as long as there is room beside passes and sessions; nullopt: half of that room.
    void set_budget(std::optional<size_t> bytes);
    // Drops everything that no append holds; whether there was anything.
    bool clear();

    // A chunk's rows in the layers that live on the device.
    struct Chunk {
        std::vector<uint64_t> checksums;
        ContextPtr ctx;
        BufferPtr memory;
        std::vector<ggml_tensor *> rows;  // by layer: [kv_dim, 2 · tokens], K then V; null for layers on the host
        std::vector<bool> filled;         // by layer

        size_t bytes() const { return ggml_backend_buffer_get_size(memory.get()); }
        // Rows that can be placed from: null for all other layers.
        std::vector<ggml_tensor *> placeable() const;
    };
    // An append places these chunks, one use of each. For every one what there is of it, with room for what there is
    // not yet; null where it is not to be kept. What is given stays for as long as somebody holds it.
    std::vector<std::shared_ptr<Chunk>> use(const std::vector<std::shared_ptr<const ChunkKv>> & chunks);
    // Copies a layer from where it was staged on the device, unless it is there.
    void fill(Chunk & to, int il, const StoredLayer & staged);

    // Whether nothing has to be brought in for the chunk of this key: all that its last append placed is here.
    bool holds(const std::string & key) const;
    struct Usage {
        size_t bytes = 0;
        size_t limit = 0;  // when a prompt last placed chunks, or the budget was set
        size_t total = 0;  // of the device's memory
        int chunks = 0;
    };
    Usage usage() const;

  private:
    struct Known {
        uint64_t used = 0;  // the append that used it last
        std::shared_ptr<Chunk> chunk;  // null: its use is all that is remembered
    };
    using Entry = std::map<std::string, Known>::iterator;

    size_t bytes() const;
    size_t limit() const;
    std::shared_ptr<Chunk> admit(const ChunkKv & chunk);
    bool make_room(size_t needed);
    bool evict_one();
    void forget_old();
    void tell();  // what other threads may know

    Device * device_ = nullptr;  // null: all layers live on the host
    const Weights & weights_;
    const KvPool & sessions_;
    std::optional<size_t> budget_;
    std::map<std::string, Known> known_;  // by the store's key
    uint64_t now_ = 0;                    // appends so far

    mutable std::mutex mutex_;
    std::set<std::string> whole_;
    Usage usage_;
};

}  // namespace kvasir
