#pragma once
// Attention over the resident KV; the only place that decides how it is computed.
//
// Thread safety: Attention belongs to the model's thread; a graph that it built runs on a device's threads.
#include <deque>
#include <vector>

#include "engine/devices/device.h"
#include "engine/gguf/hparams.h"
#include "engine/kernels/attention/kernel.h"
#include "engine/kv/block_pool.h"

namespace kvasir {

constexpr int kPaddedKeys = 256;  // GPU kernels need a multiple of this many keys

// Whether passes on `device` need a mask: ggml's attention does, our kernels compare positions.
bool needs_mask(const Device & device);

// Maps a session's positions to rows of its layers' K and V.
struct BlockTable {
    // [blocks] i32: position p is in row ids[p / kKvBlock] · kKvBlock + p % kKvBlock. If each row belongs to its own
    // session: [blocks, rows], only where needs_mask() is false.
    ggml_tensor * ids = nullptr;
    int32_t first_row = -1;  // row of position 0 if all rows are contiguous, else -1
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
    ggml_tensor * sinks; // [n_head] score of a key without a value; null: none
    const Device & device;
};

// The rows of positions 0 … n−1 in order, by head: [head_dim, n, n_head_kv]. A view if they are contiguous, else a
// copy.
ggml_tensor * kv_heads(ggml_context * c, int head_dim, ggml_tensor * cache, const BlockTable & table, int n);

// Products of queries and keys [n_kv, rows, heads] → attention weights; mask as in AttentionArgs.
ggml_tensor * attention_weights(ggml_context * c, ggml_tensor * scores, ggml_tensor * mask, const Hparams & hp);

class Attention {
  public:
    // `coarse`: the model's weights are quantised, so products of bf16 lose no further precision.
    explicit Attention(bool coarse);
    Attention(const Attention &) = delete;

    // → [q_dim, rows] f32. This object must outlive the graph. Its graphs run one at a time, and all have windows of
    // the same length.
    ggml_tensor * build(ggml_context * c, const Hparams & hp, const AttentionArgs & a);

  private:
    // Parameters of a graph node other than its tensors.
    struct OfLayer {
        Attention * self;
        float scale, softcap;
        int window;
    };
    static void op(ggml_tensor * dst, int ith, int nth, void * layer);
    void make_room(int jobs, size_t floats);

    const AttentionKernel * kernel_;
    // One per job of an operation, so that threads move on to the next job without waiting. Each team owns its memory,
    // so that a cached graph with more jobs can run again after one with fewer jobs needed more memory.
    struct Team {
        AttentionTeam shared;
        std::vector<float> memory;
    };
    std::deque<Team> teams_;
    OfLayer plain_{}, windowed_{};
};

}  // namespace kvasir
