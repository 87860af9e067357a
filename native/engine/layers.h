#pragma once
// Pieces of graphs that families build their layers from; rows = tokens.
#include "matmul.h"

namespace kvasir {

// x [n, …], weight [n] → RMS norm of x's rows, times weight.
inline ggml_tensor * rms_norm(ggml_context * c, ggml_tensor * x, ggml_tensor * weight, float eps) {
    return ggml_mul(c, ggml_rms_norm(c, x, eps), weight);
}

// w [width, outputs], bias [outputs] or null, x [width, rows] → [outputs, rows].
inline ggml_tensor * linear(ggml_context * c, ggml_tensor * w, ggml_tensor * bias, ggml_tensor * x) {
    ggml_tensor * y = matmul(c, w, x);
    return bias ? ggml_add(c, y, bias) : y;
}

// x [heads · head_dim, rows] → [head_dim, heads, rows].
inline ggml_tensor * split_heads(ggml_context * c, ggml_tensor * x, int head_dim) {
    return ggml_reshape_3d(c, x, head_dim, x->ne[0] / head_dim, x->ne[1]);
}

}  // namespace kvasir
