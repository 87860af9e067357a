#pragma once
// Attention over the resident KV, the one place that decides how it is computed.
//
// Thread safety: Attention belongs to the model's thread; a graph that it built runs on a device's threads.
#include <deque>
#include <vector>

#include "attention/kernel.h"
#include "device.h"
#include "block_pool.h"
#include "hparams.h"

namespace kvasir {

constexpr int kPaddedKeys = 256;  // GPU kernels want a number of keys that is a multiple of this

// Whether passes on `device` need a mask: ggml's attention does, our kernels go by positions.
bool needs_mask(const Device & device);

// Where a session's positions stand in the rows of its layers' K and V.
struct BlockTable {
    // [blocks] i32: position p stands in row ids[p / kKvBlock] · kKvBlock + p % kKvBlock. Where each row is of a
    // session of its own: [blocks, rows], only where needs_mask() is false.
    ggml_tensor * ids = nullptr;
    int32_t first_row = -1;  // the row of position 0 where all lie one behind another, else -1
};

struct AttentionArgs {
    ggml_tensor * q;     // [head_dim, n_head, rows] f32, with RoPE
    ggml_tensor * k;     // [kv_dim, slots] f16 or q8_0, with RoPE
    ggml_tensor * v;     // [kv_dim, slots] of the same type
    BlockTable table;
    ggml_tensor * pos;   // [rows] i32: a row sees the keys up to its own position
    ggml_tensor * mask;  // f16 [n_kv, rows]: 0 where visible, else −inf; null where needs_mask() is false
    int n_kv;            // keys 0 … n_kv−1 are considered
    int window;          // tokens; 0: none
    ggml_tensor * sinks; // [n_head] scores of a key without a value; null: none
    const Device & device;
};

// The rows of positions 0 … n−1 in their order, by heads: [head_dim, n, n_head_kv]. A view where they lie one behind
// another, else a copy.
ggml_tensor * kv_heads(ggml_context * c, int head_dim, ggml_tensor * cache, const BlockTable & table, int n);

// Products of queries and keys [n_kv, rows, heads] → how much each key weighs; mask as in AttentionArgs.
ggml_tensor * attention_weights(ggml_context * c, ggml_tensor * scores, ggml_tensor * mask, const Hparams & hp);

class Attention {
  public:
    // `coarse`: the model's weights are quantised, so that products of bf16 lose nothing that they had not lost before.
    explicit Attention(bool coarse);
    Attention(const Attention &) = delete;

    // → [q_dim, rows] f32. This object must outlive the graph; its graphs run one at a time, and all have windows of
    // one length.
    ggml_tensor * build(ggml_context * c, const Hparams & hp, const AttentionArgs & a);

  private:
    // What a graph's node is told besides its tensors.
    struct OfLayer {
        Attention * self;
        float scale, softcap;
        int window;
    };
    static void op(ggml_tensor * dst, int ith, int nth, void * layer);
    void make_room(int jobs, size_t floats);

    const AttentionKernel * kernel_;
    // One a job of an operation: threads go on to the next without waiting. The memory is each team's own, so that a
    // graph for more jobs, which is kept, can be run again after one for fewer needed more.
    struct Team {
        AttentionTeam shared;
        std::vector<float> memory;
    };
    std::deque<Team> teams_;
    OfLayer plain_{}, windowed_{};
};

}  // namespace kvasir
