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
    KvDtype dtype() const { return pool_.dtype(); }
    ggml_tensor * k(int il) const { return pool_.k(il); }  // [kv_dim, slots] of dtype(), of all sessions
    ggml_tensor * v(int il) const { return pool_.v(il); }
    const std::vector<int32_t> & table() const { return table_; }
    // The row of k() and v() that position `p` stands in.
    int32_t slot(int32_t p) const { return table_[size_t(p / kKvBlock)] * kKvBlock + p % kKvBlock; }
    // The row of position 0 where `n` positions lie one behind another, else -1.
    int32_t run(int n) const;
    // Keys and values of `count` tokens from position `begin` on, [count][kv_dim]: for looking at what is there.
    std::vector<float> keys(int il, int begin, int count) const { return rows(k(il), begin, count); }
    std::vector<float> values(int il, int begin, int count) const { return rows(v(il), begin, count); }

    // Makes positions [begin, end) writable: what others hold too is copied, what is missing is taken. OUT_OF_MEMORY; the
    // blocks taken by then stay.
    void claim(int begin, int end);
    // Positions [begin, end), claimed before, are about to be written: memory may come in large pages. warm() takes it now.
    void expect(int begin, int end) const;
    void warm(int begin, int end) const;
    // Gives back the blocks behind the first `n` positions.
    void shrink(int n);
    // The first `n` positions of `other`, shared.
    void share(const KvCache & other, int n);
    // Appends a block of the pool, held by it or known to it.
    void adopt(int32_t block);
    // Makes block `i` of the table known by `key`; if the pool knows one already, that is used from now on.
    void publish(size_t i, const BlockKey & key, std::vector<int32_t> tokens);

  private:
    std::vector<float> rows(const ggml_tensor * of, int begin, int count) const;

    KvPool & pool_;
    std::vector<int32_t> table_;
};

}  // namespace kvasir
