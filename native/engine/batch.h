#pragma once
// The tokens that a pass computes: their positions, their activations, and what attention needs to know of them, cut
// into micro-batches of a size that the matrix kernels like.
//
// Thread safety: belongs to the model's thread.
#include <cstdint>
#include <vector>

#include "attention.h"
#include "kv_cache.h"

namespace kvasir {

struct Ubatch {
    int begin = 0, count = 0;       // rows of the batch
    int n_kv = 0;                   // keys that any of its rows may see
    ggml_tensor * x = nullptr;      // [n_embd, count] f32: view of the batch's activations
    ggml_tensor * pos = nullptr;    // [count] i32
    ggml_tensor * slots = nullptr;  // [count] i32: rows of the cache that hold these positions
    BlockTable table;               // of the keys
    // See AttentionArgs; null where needs_mask() is false. The second is for layers with a window.
    ggml_tensor *mask = nullptr, *window_mask = nullptr;
    ggml_tensor * temperature = nullptr;  // [1, 1, count] f32: of the queries; null where the model has none
    bool apart = false;  // each row is of another session, and computed as if it were alone
    // Of a decode step whose attention takes one table of blocks: what each row sees, as micro-batches of one row. They
    // have what attention needs (n_kv, pos, table, masks), the whole has all else.
    std::vector<Ubatch> sequences;
};

// What attention needs besides positions, as the model and the device have it: tensors for `count` rows and n_kv
// keys, and their values.
void add_masks(ggml_context * c, Ubatch & b, const Hparams & hp, const Device & device);
void add_temperature(ggml_context * c, Ubatch & b, const Hparams & hp);
void set_masks(const Ubatch & b, const int32_t * positions, const Hparams & hp);
void set_temperature(const Ubatch & b, const int32_t * positions, const Hparams & hp);

class Batch {
  public:
    // `tokens` stand at `positions`, which ascend. Activations are left undefined. Attention is causal by position: a
    // row sees the keys at positions up to its own, wherever the row stands in the batch. The cache holds room for all,
    // and keeps its table until the batch is no longer used.
    Batch(std::vector<int32_t> tokens, std::vector<int32_t> positions, const Hparams & hp, Device & device,
          const KvCache & cache);

    const std::vector<int32_t> & tokens() const { return tokens_; }
    const std::vector<int32_t> & positions() const { return positions_; }
    int size() const { return int(positions_.size()); }
    Device & device() const { return *device_; }
    ggml_tensor * x() const { return x_; }  // [n_embd, size] f32
    const std::vector<Ubatch> & ubatches() const { return ubatches_; }

    const KvCache & cache() const { return *cache_; }

    // The rows at `indices` (ascending), with their activations, on `device`: nothing leaves the batch's own device
    // unless that is another one, and then these rows alone. Not while a graph of it is being built. ENGINE_FAILED,
    // OUT_OF_MEMORY.
    Batch subset(const std::vector<int32_t> & indices, Device & device) const;

  private:
    std::vector<int32_t> tokens_, positions_;
    const Hparams * hp_;
    Device * device_;
    const KvCache * cache_;
    ContextPtr ctx_;
    DeviceMemory::Lease memory_;
    ggml_tensor * x_ = nullptr;
    std::vector<Ubatch> ubatches_;
};

}  // namespace kvasir
