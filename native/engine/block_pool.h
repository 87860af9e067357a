#pragma once
// Which blocks of resident KV are free, who shares the others, and which can be found by their tokens: bookkeeping
// only, no bytes. The words are vLLM's.
//
// Thread safety: belongs to the model's thread.
#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

namespace kvasir {

constexpr int kKvBlock = 64;  // tokens of a block

using BlockHash = std::array<uint8_t, 32>;

// The hash of a block whose KV follows from its tokens and all before them: SHA-256 over the hash of the block before
// it and its own token ids. `parent` of a first block says what model and number format the KV belongs to.
BlockHash hash_block(const BlockHash & parent, const int32_t * tokens, size_t n);

// A block is free, used by `ref_count` block tables, or evictable: in no table, but cached, so that it can be found by
// its hash until its room is needed. The block that was given back first is evicted first; a table gives its last block
// back first, so that of a chain the tail goes before what leads to it.
class BlockPool {
  public:
    int size() const { return int(blocks_.size()); }
    int free_count() const { return free_; }
    int evictable_count() const { return int(evictable_.size()); }
    int used_count() const { return size() - free_ - evictable_count(); }

    // The new blocks are free.
    void grow(int size);
    // A free block, now used once: `after` + 1 if it can be, so that a table is one run as long as possible; −1 when
    // none is free.
    int allocate(int after);
    // Frees the evictable block that was given back first. False: there is none.
    bool evict();
    // Uses a block that is used or evictable once more.
    void ref(int id);
    // Gives it back. Nobody uses it any more: it is evictable if it is cached, else free.
    void unref(int id);
    int ref_count(int id) const { return blocks_[size_t(id)].ref_count; }
    bool is_free(int id) const {
        return id >= 0 && id < size() && blocks_[size_t(id)].ref_count == 0 && !blocks_[size_t(id)].cached;
    }

    // Whether it may be written: used once, and not cached.
    bool writable(int id) const { return ref_count(id) == 1 && !blocks_[size_t(id)].cached; }
    // Lets a used block be found by `hash`. Returns the block that was cached by this hash before, else `id`.
    int cache(int id, const BlockHash & hash, std::vector<int32_t> tokens);
    // The block cached by `hash` that holds just these tokens, or −1. It is not used by this.
    int find(const BlockHash & hash, const int32_t * tokens, size_t n) const;

  private:
    struct Block {
        int ref_count = 0;
        bool cached = false;
        BlockHash hash{};
        std::vector<int32_t> tokens;
        std::list<int>::iterator place;  // in evictable_, where ref_count is 0 and it is cached
    };
    int gap_for_new_table() const;

    std::vector<Block> blocks_;
    int free_ = 0;
    std::list<int> evictable_;  // the first to go in front
    std::map<BlockHash, int> by_hash_;
};

}  // namespace kvasir
