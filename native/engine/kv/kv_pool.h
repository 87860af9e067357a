#pragma once
// A model's resident KV: keys with RoPE at their true positions and values, f16 or q8_0, token-major, in blocks that
// sessions allocate as they grow and share where their prefixes are equal.
//
// Thread safety: belongs to the model's thread, and its memory to ggml's threads while a graph runs. Any thread may
// read what the constructor sets (dtype(), root(), the sizes of blocks).
#include <vector>

#include "block_pool.h"
#include "engine/gguf/weights.h"
#include "kv_dtype.h"
#include "pages.h"

namespace kvasir {

enum class KvLayers { own, shared };

class KvPool {
  public:
    // Takes no memory yet. `root` identifies the KV's owner: the parent hash of first blocks. With KvLayers::shared all
    // layers of a device with rows of the same size use the same memory: for passes that read a layer only while they
    // compute it.
    KvPool(const Weights & weights, const BlockHash & root, KvDtype dtype, KvLayers layers = KvLayers::own);

    KvDtype dtype() const { return dtype_; }
    int layers() const { return weights_.hparams().n_layer_kv; }  // layers that have their own keys and values

    // [kv_dim, slots] of dtype(), on the layer's device; a layer without its own KV returns the tensors of the layer it
    // reads.
    ggml_tensor * k(int il) const { return layer(il).k; }
    ggml_tensor * v(int il) const { return layer(il).v; }
    // A number unique across pools that changes whenever the tensors move, which invalidates everything built on them.
    int64_t generation() const { return generation_; }

    // Allocates a block for the positions after block `after` (−1: the first). Evicts evictable blocks once the budget
    // is used up, and exceeds it for a running session if none is left. OUT_OF_MEMORY.
    int allocate(int after);
    // Whether `blocks` more fit the budget.
    bool fits(int blocks) const { return blocks_.used_count() + blocks <= budget_blocks(); }
    // Takes enough memory that `blocks` more can be allocated without moving existing blocks. OUT_OF_MEMORY.
    void ensure_free(int blocks);
    // Hints that these blocks, all used, are about to be filled, so their memory may use large pages. prefault() takes
    // the memory now. Both do nothing on a device with separate memory.
    void advise_huge_pages(const int32_t * blocks, size_t n) const;
    void prefault(const int32_t * blocks, size_t n) const;
    void ref(int id) { blocks_.ref(id); }
    void unref(int id) { blocks_.unref(id); }
    void copy(int from, int to);
    // K then V of a block, [kKvBlock][kv_dim] each: layer_block_bytes(). Only layers that have their own keys and
    // values.
    void read(int id, int il, uint8_t * out) const;
    void write(int id, int il, const uint8_t * in);

    // The longest cached prefix of `tokens`: its blocks in order, with their hashes. Adds no references.
    std::vector<std::pair<BlockHash, int>> cached_prefix(const std::vector<int32_t> & tokens) const;

    // Maximum bytes for blocks; used blocks are never evicted.
    void set_budget(size_t bytes);
    size_t budget() const { return budget_; }
    size_t block_bytes() const;  // over all layers
    size_t layer_block_bytes(int il) const;

    BlockPool & blocks() { return blocks_; }
    const BlockPool & blocks() const { return blocks_; }
    const BlockHash & root() const { return root_; }

  private:
    struct Layer {
        Device * device = nullptr;
        int kv_dim = 0;
        ContextPtr ctx;
        Pages pages;  // on the host: keys in the first half, values in the second; unused pages take no memory
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
    std::vector<size_t> memory_of_;  // layer of the model → index into layers_
    size_t budget_ = size_t(1) << 30;
    int64_t generation_ = 0;
};

}  // namespace kvasir
