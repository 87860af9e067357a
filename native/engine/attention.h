#pragma once
// Attention over the resident KV, the one place that decides how it is computed.
#include "models/architecture.h"

namespace kvasir {

// How a block's queries are laid out for attention: a small block packs the query heads of a KV head into rows, which
// keeps ggml's tiled kernel (64 rows and more) in use for a question of a few tokens.
bool pack_heads(int rows, const Hparams & hp);

struct AttentionArgs {
    ggml_tensor * q;     // [head_dim, n_head, rows] f32, with RoPE
    ggml_tensor * k;     // [kv_dim, capacity] f16, with RoPE
    ggml_tensor * v;     // [kv_dim, capacity] f16
    ggml_tensor * mask;  // f16 [n_kv, rows] (or [n_kv, group · rows] when packed): 0 where visible, else −inf
    int n_kv;            // keys 0 … n_kv−1 are considered
    bool packed;
};

// → [q_dim, rows] f32.
ggml_tensor * attention(ggml_context * c, const Hparams & hp, const AttentionArgs & a);

}  // namespace kvasir
