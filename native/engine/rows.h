#pragma once
// The tokens a pass computes: their positions, their activations, and what attention needs to know of them, cut into
// blocks of a size the matrix kernels like.
#include <cstdint>
#include <vector>

#include "attention.h"
#include "kv_cache.h"

namespace kvasir {

struct RowBlock {
    int begin = 0, count = 0;  // rows of the set
    int n_kv = 0;              // keys that any row of the block may see
    ggml_tensor * x = nullptr;     // [n_embd, count] f32: view of the set's activations
    ggml_tensor * pos = nullptr;   // [count] i32
    ggml_tensor * slots = nullptr; // [count] i32: rows of the cache that hold these positions
    KvPlaces places;               // of the keys
    ggml_tensor * mask = nullptr;  // see AttentionArgs; null where needs_mask() is false
};

class RowSet {
  public:
    // `positions` ascending. Activations are left undefined. Attention is causal by position: a row sees the keys at
    // positions up to its own, wherever the row stands in the set. The cache holds room for all, and keeps its table until the
    // set is no longer used.
    RowSet(std::vector<int32_t> positions, int n_embd, Compute & device, const KvCache & cache);

    const std::vector<int32_t> & positions() const { return positions_; }
    int size() const { return int(positions_.size()); }
    Compute & device() const { return *device_; }
    ggml_tensor * x() const { return x_; }  // [n_embd, size] f32
    const std::vector<RowBlock> & blocks() const { return blocks_; }

    const KvCache & cache() const { return *cache_; }

    // The rows at `indices` (ascending), with their activations, on `device`.
    RowSet subset(const std::vector<int32_t> & indices, Compute & device) const;

  private:
    std::vector<int32_t> positions_;
    Compute * device_;
    const KvCache * cache_;
    ContextPtr ctx_;
    BufferPtr buffer_;
    ggml_tensor * x_ = nullptr;
    std::vector<RowBlock> blocks_;
};

}  // namespace kvasir
