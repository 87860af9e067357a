#pragma once
// Graph building blocks from which families build their layers; rows = tokens.
//
// Thread safety: a graph belongs to the thread that builds it.
#include "architecture.h"
#include "engine/gguf/adapter.h"
#include "engine/kernels/matmul.h"

namespace kvasir {

// x [n, …], weight [n] → RMS norm of x's rows, times weight.
inline ggml_tensor * rms_norm(ggml_context * c, ggml_tensor * x, ggml_tensor * weight, float eps) {
    return ggml_mul(c, ggml_rms_norm(c, x, eps), weight);
}

// w [width, outputs], bias [outputs] or null, x [width, rows] → [outputs, rows]. Every product with a layer's weights
// goes through here, so that adapters always apply.
inline ggml_tensor * linear(const LayerArgs & l, ggml_tensor * w, ggml_tensor * bias, ggml_tensor * x) {
    ggml_tensor * y = adapted(l.c, l.adapter, w, x, matmul(l.c, w, x, l.rows), l.rows);
    return bias ? ggml_add(l.c, y, bias) : y;
}

// act(gate) ⊙ up, both [n, …].
inline ggml_tensor * gated(ggml_context * c, Activation activation, ggml_tensor * gate, ggml_tensor * up) {
    switch (activation) {
        case Activation::gelu: return ggml_geglu_split(c, gate, up);
        // gpt-oss: σ(1.702 · gate) · gate · (up + 1), both clamped at 7.
        case Activation::clamped_silu: return ggml_swiglu_oai(c, gate, up, 1.702f, 7.0f);
        default: return ggml_swiglu_split(c, gate, up);
    }
}

// The same if gate and up are the halves of [2 n, …], gate first.
inline ggml_tensor * gated_halves(ggml_context * c, Activation activation, ggml_tensor * both) {
    const int64_t n = both->ne[0] / 2;
    const auto half = [&](size_t first) {
        return ggml_view_3d(c, both, n, both->ne[1], both->ne[2], both->nb[1], both->nb[2], first * both->nb[0]);
    };
    return gated(c, activation, half(0), half(size_t(n)));
}

// x [heads · head_dim, rows] → [head_dim, heads, rows].
inline ggml_tensor * split_heads(ggml_context * c, ggml_tensor * x, int head_dim) {
    return ggml_reshape_3d(c, x, head_dim, x->ne[0] / head_dim, x->ne[1]);
}

}  // namespace kvasir
