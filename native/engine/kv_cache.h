#pragma once
// The resident KV of one session: keys with RoPE at their true positions, values, both f16, token-major.
#include <vector>

#include "weights.h"

namespace kvasir {

class KvCache {
  public:
    // `capacity` tokens; OUT_OF_MEMORY.
    KvCache(const Weights & weights, int capacity);
    // Zeroes it: padding beyond the last token is masked, but a NaN in it would survive the mask. Call once before use.
    void clear();
    int capacity() const { return capacity_; }
    ggml_tensor * k(int il) const { return k_[il]; }  // [kv_dim, capacity], on the layer's device
    ggml_tensor * v(int il) const { return v_[il]; }  // [kv_dim, capacity]
    // Keys and values of `count` tokens from position `begin` on, [count][kv_dim]: for looking at what is there.
    std::vector<float> keys(int il, int begin, int count) const;
    std::vector<float> values(int il, int begin, int count) const;

  private:
    int capacity_;
    std::vector<ggml_tensor *> k_, v_;
    std::vector<ContextPtr> contexts_;
    std::vector<BufferPtr> buffers_;
};

}  // namespace kvasir
