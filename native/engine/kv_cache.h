#pragma once
// The resident KV of one session: its table of blocks in the model's pool.
#include <cstdint>
#include <vector>

#include "kv_pool.h"

namespace kvasir {

class KvCache {
  public:
    explicit KvCache(KvPool & pool) : pool_(pool) {}
    ~KvCache() { shrink(0); }
    KvCache(const KvCache &) = delete;

    KvPool & pool() const { return pool_; }
    ggml_tensor * k(int il) const { return pool_.k(il); }  // [kv_dim, slots] f16, of all sessions
    ggml_tensor * v(int il) const { return pool_.v(il); }
    const std::vector<int32_t> & table() const { return table_; }
    // The row of k() and v() that position `p` stands in.
    int32_t slot(int32_t p) const { return table_[size_t(p / kKvBlock)] * kKvBlock + p % kKvBlock; }
    // The row of position 0 where `n` positions lie one behind another, else -1.
    int32_t run(int n) const;
    // K or V of positions 0 … n−1, one row of kv_dim each, on the host: for tests and measurements.
    std::vector<uint16_t> rows(ggml_tensor * of, int n) const;

    // Makes positions [begin, end) writable: what others hold too is copied, what is missing is taken. OUT_OF_MEMORY; the
    // blocks taken by then stay.
    void claim(int begin, int end);
    // Gives back the blocks behind the first `n` positions.
    void shrink(int n);
    // The first `n` positions of `other`, shared.
    void share(const KvCache & other, int n);
    // Appends a block of the pool, held by it or known to it.
    void adopt(int32_t block);
    // Makes block `i` of the table known by `key`; if the pool knows one already, that is used from now on.
    void publish(size_t i, const BlockKey & key, std::vector<int32_t> tokens);

  private:
    KvPool & pool_;
    std::vector<int32_t> table_;
};

}  // namespace kvasir
