#pragma once
// A model's resident KV: keys with RoPE at their true positions and values, f16 or q8_0, token-major, in blocks that
// sessions take as they grow and share where they begin alike.
//
// Thread safety: belongs to the model's thread, and its memory to ggml's threads while a graph runs. What the
// constructor sets (dtype(), root(), the sizes of blocks) any thread may read.
#include <vector>

#include "block_pool.h"
#include "kv_dtype.h"
#include "pages.h"
#include "weights.h"

namespace kvasir {

enum class KvLayers { own, shared };

class KvPool {
  public:
    // Takes no memory yet. `root` names what the KV belongs to: the hash before a first block's. With KvLayers::shared
    // all layers of a device whose rows are of one size stand in the same memory: for passes that read a layer only
    // while they compute it.
    KvPool(const Weights & weights, const BlockHash & root, KvDtype dtype, KvLayers layers = KvLayers::own);

    KvDtype dtype() const { return dtype_; }
    int layers() const { return weights_.hparams().n_layer_kv; }  // with keys and values of their own

    // [kv_dim, slots] of dtype(), on the layer's device; those of the layer that it reads.
    ggml_tensor * k(int il) const { return layer(il).k; }
    ggml_tensor * v(int il) const { return layer(il).v; }
    // Another number after every move of the tensors, and in every pool: what was built on them is then stale.
    int64_t generation() const { return generation_; }

    // A block for positions behind those of block `after` (−1: the first). Evictable blocks make room once the budget
    // is used up; beyond it a session that runs gets what it needs. OUT_OF_MEMORY.
    int allocate(int after);
    // Whether `blocks` more can be used within the budget.
    bool fits(int blocks) const { return blocks_.used_count() + blocks <= budget_blocks(); }
    // Takes so much memory that `blocks` more can be allocated without moving what is there. OUT_OF_MEMORY.
    void ensure_free(int blocks);
    // These blocks, all used, are about to be filled: their memory may come in large pages. prefault() takes it now.
    // Neither does anything on a device with memory of its own.
    void advise_huge_pages(const int32_t * blocks, size_t n) const;
    void prefault(const int32_t * blocks, size_t n) const;
    void ref(int id) { blocks_.ref(id); }
    void unref(int id) { blocks_.unref(id); }
    void copy(int from, int to);
    // K then V of a block, [kKvBlock][kv_dim] each: layer_block_bytes(). Of layers with keys and values of their own.
    void read(int id, int il, uint8_t * out) const;
    void write(int id, int il, const uint8_t * in);

    // The blocks that `tokens` begin with, from the first on as far as they are cached, with their hashes. They are not
    // used by this.
    std::vector<std::pair<BlockHash, int>> cached_prefix(const std::vector<int32_t> & tokens) const;

    // How many bytes blocks may fill; those that are used do not go away.
    void set_budget(size_t bytes);
    size_t budget() const { return budget_; }
    size_t block_bytes() const;  // of all layers
    size_t layer_block_bytes(int il) const;

    BlockPool & blocks() { return blocks_; }
    const BlockPool & blocks() const { return blocks_; }
    const BlockHash & root() const { return root_; }

  private:
    struct Layer {
        Device * device = nullptr;
        int kv_dim = 0;
        ContextPtr ctx;
        Pages pages;  // on the host: keys in the first half, values in the second; what nobody uses is not taken
        DeviceMemory::Lease buffer;
        ggml_tensor *k = nullptr, *v = nullptr;
    };
    const Layer & layer(int il) const { return layers_[memory_of_[size_t(il)]]; }
    void make_tensors(Layer & layer, int blocks) const;
    size_t bytes_of(const Layer & layer, int blocks) const;
    Layer make_layer(const Layer & like, int blocks) const;
    void move_layer(const Layer & from, Layer & to) const;
    void grow(int blocks);
    template <typename F> void for_each_run(const int32_t * blocks, size_t n, F on_pages) const;
    int budget_blocks() const;

    const Weights & weights_;
    BlockHash root_;
    KvDtype dtype_;
    BlockPool blocks_;
    std::vector<Layer> layers_;
    std::vector<size_t> memory_of_;  // layer of the model → which of layers_
    size_t budget_ = size_t(1) << 30;
    int64_t generation_ = 0;
};

}  // namespace kvasir
