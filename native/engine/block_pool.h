#pragma once
// Which blocks of resident KV are free, who shares the others, and what a prefix block holds: bookkeeping only, no bytes.
#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

namespace kvasir {

constexpr int kKvBlock = 64;  // tokens of a block

using BlockKey = std::array<uint8_t, 32>;

// The key of a block whose KV follows from its tokens and all before them: SHA-256 over the key of the block before it
// and its own token ids. `parent` of a first block says what model and number format the KV belongs to.
BlockKey chain_key(const BlockKey & parent, const int32_t * tokens, size_t n);

// A block is free, held by `refs` tables, or kept: held by none, but known by its key and there to be found again until
// its room is needed. Kept blocks go in the order they were given back; a table gives its last block back first, so that
// of a chain the tail goes before what leads to it.
class BlockPool {
  public:
    int size() const { return int(blocks_.size()); }
    int free_count() const { return free_; }
    int kept_count() const { return int(kept_.size()); }
    int held_count() const { return size() - free_ - kept_count(); }

    // The new blocks are free.
    void grow(int size);
    // A free block, now held once: `after` + 1 if it can be, so that a table is one run as long as possible. -1: none is free.
    int take(int after);
    // Frees the kept block that was given back first. False: none is kept.
    bool evict();
    void share(int id);
    void give_back(int id);
    int refs(int id) const { return blocks_[size_t(id)].refs; }
    bool is_free(int id) const { return id >= 0 && id < size() && blocks_[size_t(id)].refs == 0 && !blocks_[size_t(id)].known; }

    // Whether it may be written: held once, and not known by its tokens.
    bool writable(int id) const { return refs(id) == 1 && !blocks_[size_t(id)].known; }
    // Makes a held block known. Returns the one that was known by this key before, else `id`.
    int publish(int id, const BlockKey & key, std::vector<int32_t> tokens);
    // The block known by `key` that holds just these tokens; -1: there is none. It is not held by this.
    int find(const BlockKey & key, const int32_t * tokens, size_t n) const;

  private:
    struct Block {
        int refs = 0;
        bool known = false;
        BlockKey key{};
        std::vector<int32_t> tokens;
        std::list<int>::iterator place;  // in kept_, where refs is 0 and it is known
    };
    int roomiest() const;

    std::vector<Block> blocks_;
    int free_ = 0;
    std::list<int> kept_;  // the first to go in front
    std::map<BlockKey, int> known_;
};

}  // namespace kvasir
