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
    ggml_tensor * k(int il) const { return pool_.k(il); }  // [kv_dim, slots] of dtype(), of all sessions
    ggml_tensor * v(int il) const { return pool_.v(il); }
    const std::vector<int32_t> & block_table() const { return table_; }
    // The row of k() and v() that position `p` stands in.
    int32_t slot(int32_t p) const { return table_[size_t(p / kKvBlock)] * kKvBlock + p % kKvBlock; }
    // The row of position 0 where `n` positions lie one behind another, else -1.
    int32_t first_row(int n) const;
    // Keys and values of `count` tokens from position `begin` on, [count][kv_dim]: for looking at what is there.
    std::vector<float> keys(int il, int begin, int count) const { return rows(k(il), begin, count); }
    std::vector<float> values(int il, int begin, int count) const { return rows(v(il), begin, count); }

    // How many blocks allocate() would take of the pool.
    int missing(int begin, int end) const;
    // Makes positions [begin, end) writable: blocks that others use too are copied, missing ones are taken.
    // OUT_OF_MEMORY; the blocks taken by then stay.
    void allocate(int begin, int end);
    // Positions [begin, end), allocated before, are about to be written: their memory may come in large pages.
    // prefault() takes it now.
    void advise_huge_pages(int begin, int end) const;
    void prefault(int begin, int end) const;
    // Zeros for positions [begin, end), which are writable.
    void wipe(int begin, int end) const;
    // Gives back the blocks behind the first `n` positions.
    void truncate(int n);
    // The first `n` positions of `other`, shared.
    void share_prefix(const KvCache & other, int n);
    // Appends a block of the pool that is used or cached.
    void append_block(int32_t block);
    // Lets block `i` of the table be found by `hash`. If one is cached by it already, that takes its place in the
    // table.
    void cache_block(size_t i, const BlockHash & hash, std::vector<int32_t> tokens);

  private:
    std::vector<float> rows(const ggml_tensor * of, int begin, int count) const;

    KvPool & pool_;
    std::vector<int32_t> table_;
};

}  // namespace kvasir
