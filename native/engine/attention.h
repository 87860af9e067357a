#pragma once
// Attention over the resident KV, the one place that decides how it is computed.
#include "backend.h"
#include "models/architecture.h"

namespace kvasir {

constexpr int kKvBlock = 64;  // tokens of one block of resident KV

// Whether a pass over `rows` rows on `device` needs a mask: ggml's attention does, our kernel goes by positions.
bool needs_mask(int rows, const Hparams & hp, const Compute & device);

struct AttentionArgs {
    ggml_tensor * q;     // [head_dim, n_head, rows] f32, with RoPE
    ggml_tensor * k;     // [kv_dim, capacity] f16, with RoPE
    ggml_tensor * v;     // [kv_dim, capacity] f16
    ggml_tensor * pos;   // [rows] i32: a row sees the keys up to its own position
    ggml_tensor * mask;  // f16 [n_kv, rows]: 0 where visible, else −inf; null where needs_mask() is false
    int n_kv;            // keys 0 … n_kv−1 are considered
    // [blocks] i32: position p stands in row blocks[p / kKvBlock] · kKvBlock + p % kKvBlock of the cache; null: in row p.
    // Only where needs_mask() is false: ggml's attention knows no blocks.
    ggml_tensor * blocks = nullptr;
};

// → [q_dim, rows] f32.
ggml_tensor * attention(ggml_context * c, const Hparams & hp, const AttentionArgs & a);

}  // namespace kvasir
