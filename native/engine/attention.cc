#include "attention.h"

#include <cmath>

namespace kvasir {

namespace {
constexpr int kTileRows = 64;  // below this ggml's flash attention leaves its tiled kernel

// [head_dim, n_kv, n_head_kv] over a token-major cache.
ggml_tensor * cache_heads(ggml_context * c, const Hparams & hp, ggml_tensor * cache, int n_kv) {
    const size_t head = ggml_row_size(cache->type, hp.head_dim);
    return ggml_view_3d(c, cache, hp.head_dim, n_kv, hp.n_head_kv, cache->nb[1], head, 0);
}
}  // namespace

bool pack_heads(int rows, const Hparams & hp) { return rows > 1 && rows < kTileRows && hp.group() > 1; }

ggml_tensor * attention(ggml_context * c, const Hparams & hp, const AttentionArgs & a) {
    const int64_t rows = a.q->ne[2], group = hp.group(), hd = hp.head_dim, n_kv_heads = hp.n_head_kv;
    ggml_tensor * k = cache_heads(c, hp, a.k, a.n_kv);
    ggml_tensor * v = cache_heads(c, hp, a.v, a.n_kv);
    ggml_tensor * q;
    if (a.packed) {
        // [hd, group, kv_heads, rows] → [hd, group · rows, kv_heads]
        q = ggml_reshape_4d(c, a.q, hd, group, n_kv_heads, rows);
        q = ggml_cont(c, ggml_permute(c, q, 0, 1, 3, 2));
        q = ggml_reshape_3d(c, q, hd, group * rows, n_kv_heads);
    } else {
        q = ggml_permute(c, a.q, 0, 2, 1, 3);  // [hd, rows, heads]
    }
    ggml_tensor * y = ggml_flash_attn_ext(c, q, k, v, a.mask, 1.0f / std::sqrt(float(hd)), 0.0f, 0.0f);
    ggml_flash_attn_ext_set_prec(y, GGML_PREC_F32);
    if (a.packed) {
        // [hd, kv_heads, group · rows] → [hd, group, kv_heads, rows]
        y = ggml_reshape_4d(c, y, hd, n_kv_heads, group, rows);
        y = ggml_cont(c, ggml_permute(c, y, 0, 2, 1, 3));
    }
    return ggml_reshape_2d(c, y, hp.q_dim(), rows);
}

}  // namespace kvasir
