#pragma once
// Pieces of layers that families share. Shapes as in architecture.h.
#include "engine/matmul.h"
#include "models/architecture.h"

namespace kvasir::blocks {

inline ggml_tensor * rms_norm(ggml_context * c, ggml_tensor * x, ggml_tensor * weight, float eps) {
    return ggml_mul(c, ggml_rms_norm(c, x, eps), weight);
}

inline ggml_tensor * linear(ggml_context * c, ggml_tensor * w, ggml_tensor * bias, ggml_tensor * x) {
    ggml_tensor * y = matmul(c, w, x);
    return bias ? ggml_add(c, y, bias) : y;
}

inline ggml_tensor * heads(ggml_context * c, ggml_tensor * x, int head_dim) {
    return ggml_reshape_3d(c, x, head_dim, x->ne[0] / head_dim, x->ne[1]);
}

// down(silu(gate · x) ⊙ up · x)
inline ggml_tensor * swiglu_ffn(ggml_context * c, const LayerWeights & w, ggml_tensor * x) {
    ggml_tensor * gate = matmul(c, w.gate, x);
    ggml_tensor * up = matmul(c, w.up, x);
    return matmul(c, w.down, ggml_swiglu_split(c, gate, up));
}

// wo · attn + x, then the feed-forward block with its own residual.
inline ggml_tensor * output_and_ffn(ggml_context * c, const Hparams & hp, const LayerWeights & w, ggml_tensor * attn, ggml_tensor * x) {
    ggml_tensor * mid = ggml_add(c, linear(c, w.wo, w.bo, attn), x);
    return ggml_add(c, swiglu_ffn(c, w, rms_norm(c, mid, w.ffn_norm, hp.rms_eps)), mid);
}

// The weights every family here has, in the names of GGUF's standard.
inline std::vector<TensorSpec> standard_tensors(const Hparams & hp, int layer) {
    const std::string p = "blk." + std::to_string(layer) + ".";
    const int64_t d = hp.n_embd, q = hp.q_dim(), kv = hp.kv_dim(), ff = hp.n_ff;
    return {
        {p + "attn_norm.weight", {d}, &LayerWeights::attn_norm},
        {p + "attn_q.weight", {d, q}, &LayerWeights::wq},
        {p + "attn_k.weight", {d, kv}, &LayerWeights::wk},
        {p + "attn_v.weight", {d, kv}, &LayerWeights::wv},
        {p + "attn_output.weight", {q, d}, &LayerWeights::wo},
        {p + "ffn_norm.weight", {d}, &LayerWeights::ffn_norm},
        {p + "ffn_gate.weight", {d, ff}, &LayerWeights::gate},
        {p + "ffn_up.weight", {d, ff}, &LayerWeights::up},
        {p + "ffn_down.weight", {ff, d}, &LayerWeights::down},
    };
}

inline void add_qkv_bias(std::vector<TensorSpec> & specs, const Hparams & hp, int layer, bool required) {
    const std::string p = "blk." + std::to_string(layer) + ".";
    specs.push_back({p + "attn_q.bias", {hp.q_dim()}, &LayerWeights::bq, required});
    specs.push_back({p + "attn_k.bias", {hp.kv_dim()}, &LayerWeights::bk, required});
    specs.push_back({p + "attn_v.bias", {hp.kv_dim()}, &LayerWeights::bv, required});
}

}  // namespace kvasir::blocks
