#pragma once
// The tokens that a pass computes: their positions, their activations, and the inputs of attention, cut into
// micro-batches of a size that suits the matrix kernels.
//
// Thread safety: belongs to the model's thread.
#include <cstdint>
#include <vector>

#include "engine/kernels/attention.h"
#include "engine/kv/kv_cache.h"

namespace kvasir {

struct Ubatch {
    int begin = 0, count = 0;       // rows of the batch
    int n_kv = 0;                   // keys visible to at least one of its rows
    ggml_tensor * x = nullptr;      // [n_embd, count] f32: view of the batch's activations
    ggml_tensor * pos = nullptr;    // [count] i32
    ggml_tensor * slots = nullptr;  // [count] i32: rows of the cache that hold these positions
    BlockTable table;               // of the keys
    // See AttentionArgs; null where needs_mask() is false. window_mask is for layers with a sliding window.
    ggml_tensor *mask = nullptr, *window_mask = nullptr;
    ggml_tensor * temperature = nullptr;  // [1, 1, count] f32: scales the queries; null if the model has none
    bool apart = false;  // each row belongs to another session, and is computed as if it were alone
    // For a decode step whose attention takes a single table of blocks: one micro-batch of one row per session. They
    // hold the inputs of attention (n_kv, pos, table, masks); the enclosing micro-batch holds the rest.
    std::vector<Ubatch> sequences;
};

// Tensors that attention needs besides positions, depending on model and device, for `count` rows and n_kv keys:
// add_…() create them in the graph, set_…() fill them before it runs.
void add_masks(ggml_context * c, Ubatch & b, const Hparams & hp, const Device & device);
void add_temperature(ggml_context * c, Ubatch & b, const Hparams & hp);
void set_masks(const Ubatch & b, const int32_t * positions, const Hparams & hp);
void set_temperature(const Ubatch & b, const int32_t * positions, const Hparams & hp);

class Batch {
  public:
    // `tokens` are at `positions`, in ascending order. Activations are left undefined. Attention is causal by position:
    // a row sees the keys at positions up to its own, wherever the row is in the batch. The cache must have room for
    // all positions, and its table must not change while the batch is in use.
    Batch(std::vector<int32_t> tokens, std::vector<int32_t> positions, const Hparams & hp, Device & device,
          const KvCache & cache);

    const std::vector<int32_t> & tokens() const { return tokens_; }
    const std::vector<int32_t> & positions() const { return positions_; }
    int size() const { return int(positions_.size()); }
    Device & device() const { return *device_; }
    ggml_tensor * x() const { return x_; }  // [n_embd, size] f32
    const std::vector<Ubatch> & ubatches() const { return ubatches_; }

    const KvCache & cache() const { return *cache_; }

    // The rows at `indices` (ascending) with their activations, on `device`. Data leaves the batch's device only if
    // `device` is another one, and then only these rows. Must not be called while a graph is being built on the batch's
    // device. ENGINE_FAILED, OUT_OF_MEMORY.
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
