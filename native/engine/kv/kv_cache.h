#pragma once
// The resident KV of one session: its block table in the model's pool.
//
// Thread safety: belongs to the model's thread.
#include <cstdint>
#include <vector>

#include "kv_pool.h"

namespace kvasir {

class KvCache {
  public:
    explicit KvCache(KvPool & pool) : pool_(pool) {}
    ~KvCache() { truncate(0); }
    KvCache(const KvCache &) = delete;

    KvPool & pool() const { return pool_; }
    KvDtype dtype() const { return pool_.dtype(); }
    ggml_tensor * k(int il) const { return pool_.k(il); }  // [kv_dim, slots] of dtype(), for all sessions
    ggml_tensor * v(int il) const { return pool_.v(il); }
    const std::vector<int32_t> & block_table() const { return table_; }
    // The row of k() and v() that holds position `p`.
    int32_t slot(int32_t p) const { return table_[size_t(p / kKvBlock)] * kKvBlock + p % kKvBlock; }
    // The row of position 0 if the first `n` positions are contiguous, else -1.
    int32_t first_row(int n) const;
    // Keys and values of `count` tokens starting at position `begin`, [count][kv_dim]; for inspection.
    std::vector<float> keys(int il, int begin, int count) const { return rows(k(il), begin, count); }
    std::vector<float> values(int il, int begin, int count) const { return rows(v(il), begin, count); }

    // Number of blocks that allocate() would take from the pool.
    int missing(int begin, int end) const;
    // Makes positions [begin, end) writable: copies blocks that others share and allocates missing ones. OUT_OF_MEMORY;
    // blocks allocated until then stay.
    void allocate(int begin, int end);
    // Hints that positions [begin, end), already allocated, are about to be written, so their memory may use large
    // pages. prefault() takes the memory now.
    void advise_huge_pages(int begin, int end) const;
    void prefault(int begin, int end) const;
    // Zeros positions [begin, end), which must be writable.
    void wipe(int begin, int end) const;
    // Releases the blocks after the first `n` positions.
    void truncate(int n);
    // Shares the first `n` positions of `other`.
    void share_prefix(const KvCache & other, int n);
    // Appends a used or cached block of the pool.
    void append_block(int32_t block);
    // Makes block `i` of the table findable by `hash`. If another block is already cached under it, that block replaces
    // this one in the table.
    void cache_block(size_t i, const BlockHash & hash, std::vector<int32_t> tokens);

  private:
    std::vector<float> rows(const ggml_tensor * of, int begin, int count) const;

    KvPool & pool_;
    std::vector<int32_t> table_;
};

}  // namespace kvasir
