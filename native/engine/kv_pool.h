#pragma once
// A model's resident KV: keys with RoPE at their true positions and values, f16 or q8_0, token-major, in blocks that sessions take
// as they grow and share where they begin alike.
#include <vector>

#include "block_pool.h"
#include "kv_dtype.h"
#include "pages.h"
#include "weights.h"

namespace kvasir {

class KvPool {
  public:
    // Takes no memory yet. `root` names what the KV belongs to: the key before a first block's.
    KvPool(const Weights & weights, const BlockKey & root, KvDtype dtype);

    KvDtype dtype() const { return dtype_; }

    ggml_tensor * k(int il) const { return layers_[size_t(il)].k; }  // [kv_dim, slots] of dtype(), on the layer's device
    ggml_tensor * v(int il) const { return layers_[size_t(il)].v; }  // likewise
    // Another number after every move of the tensors, and in every pool: what was built on them is then stale.
    int64_t generation() const { return generation_; }

    // A block for positions behind those of block `after` (-1: the first). Blocks kept for prefixes make room once the
    // budget is used up; beyond it a session that runs gets what it needs. OUT_OF_MEMORY.
    int take(int after);
    // Takes so much memory that `blocks` more can be taken without moving what is there. OUT_OF_MEMORY.
    void make_room(int blocks);
    // These blocks, all held, are about to be filled; touch() takes their memory at once. Nothing where it is not the host's.
    void expect(const int32_t * blocks, size_t n) const;
    void touch(const int32_t * blocks, size_t n) const;
    void share(int id) { blocks_.share(id); }
    void give_back(int id) { blocks_.give_back(id); }
    void copy(int from, int to);
    // K then V of a block, [kKvBlock][kv_dim] each: layer_block_bytes().
    void read(int id, int il, uint8_t * out) const;
    void write(int id, int il, const uint8_t * in);

    // The blocks that `tokens` begin with, as far as they are known, from the first on, with their keys. They are not held by this.
    std::vector<std::pair<BlockKey, int>> known_prefix(const std::vector<int32_t> & tokens) const;

    // How much prefixes may fill; blocks that are held do not go away.
    void set_budget(size_t bytes);
    size_t budget() const { return budget_; }
    size_t block_bytes() const;  // of all layers
    size_t layer_block_bytes() const;

    BlockPool & blocks() { return blocks_; }
    const BlockPool & blocks() const { return blocks_; }
    const BlockKey & root() const { return root_; }

  private:
    struct Layer {
        ContextPtr ctx;
        Pages pages;  // on the host: memory that nobody uses is not touched
        BufferPtr buffer;
        ggml_tensor *k = nullptr, *v = nullptr;
    };
    Layer make_layer(int il, int blocks) const;
    void move_layer(int il, Layer & to) const;
    void grow(int blocks);
    template <typename F> void each_run(const int32_t * blocks, size_t n, F on_pages) const;
    int within_budget() const;

    const Weights & weights_;
    BlockKey root_;
    KvDtype dtype_;
    BlockPool blocks_;
    std::vector<Layer> layers_;
    size_t budget_ = size_t(1) << 30;
    int64_t generation_ = 0;
};

}  // namespace kvasir
