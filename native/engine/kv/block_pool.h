#pragma once
// Tracks which blocks of resident KV are free, which are shared, and which can be found by their tokens. Bookkeeping
// only, no KV bytes. The terms are vLLM's.
//
// Thread safety: belongs to the model's thread.
#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

namespace kvasir {

constexpr int kKvBlock = 64;  // tokens per block

using BlockHash = std::array<uint8_t, 32>;

// The hash of a block whose KV depends on its tokens and all before them: SHA-256 over the previous block's hash and
// this block's token ids. The `parent` of a first block identifies the model and number format of the KV.
BlockHash hash_block(const BlockHash & parent, const int32_t * tokens, size_t n);

// A block is free, used by `ref_count` block tables, or evictable: in no table, but cached, so that it can be found by
// its hash until its space is needed. The block released first is evicted first. A table releases its last block first,
// so that the tail of a chain is evicted before its head.
class BlockPool {
  public:
    int size() const { return int(blocks_.size()); }
    int free_count() const { return free_; }
    int evictable_count() const { return int(evictable_.size()); }
    int used_count() const { return size() - free_ - evictable_count(); }

    // The new blocks are free.
    void grow(int size);
    // Returns a free block with ref_count 1: `after` + 1 if possible, so that a table stays contiguous as long as
    // possible; −1 if none is free.
    int allocate(int after);
    // Frees the evictable block that was released first. Returns false if there is none.
    bool evict();
    // Adds a reference to a used or evictable block.
    void ref(int id);
    // Removes a reference. A block without references is evictable if it is cached, else free.
    void unref(int id);
    int ref_count(int id) const { return blocks_[size_t(id)].ref_count; }
    bool is_free(int id) const {
        return id >= 0 && id < size() && blocks_[size_t(id)].ref_count == 0 && !blocks_[size_t(id)].cached;
    }

    // Whether the block may be written: one reference, and not cached.
    bool writable(int id) const { return ref_count(id) == 1 && !blocks_[size_t(id)].cached; }
    // Makes a used block findable by `hash`. Returns the block already cached under this hash, else `id`.
    int cache(int id, const BlockHash & hash, std::vector<int32_t> tokens);
    // The block cached under `hash` with exactly these tokens, or −1. Adds no reference.
    int find(const BlockHash & hash, const int32_t * tokens, size_t n) const;

  private:
    struct Block {
        int ref_count = 0;
        bool cached = false;
        BlockHash hash{};
        std::vector<int32_t> tokens;
        std::list<int>::iterator place;  // in evictable_, if ref_count is 0 and the block is cached
    };
    int gap_for_new_table() const;

    std::vector<Block> blocks_;
    int free_ = 0;
    std::list<int> evictable_;  // next to be evicted first
    std::map<BlockHash, int> by_hash_;
};

}  // namespace kvasir
