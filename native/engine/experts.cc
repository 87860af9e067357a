#include "experts.h"

#include <cmath>

#include "layers.h"

namespace kvasir {

namespace {

// The smallest normal number of f16, as llama.cpp has it: below that the sum of weights is not divided by.
constexpr float kLeastSum = 6.103515625e-5f;

struct Routing {
    ggml_tensor * experts;  // [used, rows] i32
    ggml_tensor * weights;  // [1, used, rows]
};

Routing route(const LayerArgs & l, ggml_tensor * x) {
    ggml_context * c = l.c;
    const Experts & e = l.hp.experts;
    const int64_t rows = x->ne[1];
    ggml_tensor * scores = linear(c, l.w.router, l.w.router_bias, x);  // [experts, rows]
    if (e.gating == Gating::softmax) scores = ggml_soft_max(c, scores);
    if (e.gating == Gating::sigmoid) scores = ggml_sigmoid(c, scores);
    ggml_tensor * chosen = ggml_argsort_top_k(c, scores, e.used);
    ggml_tensor * weights = ggml_get_rows(c, ggml_reshape_3d(c, scores, 1, e.count, rows), chosen);  // [1, used, rows]
    weights = ggml_reshape_2d(c, weights, e.used, rows);
    if (e.gating == Gating::softmax_of_chosen) weights = ggml_soft_max(c, weights);
    if (e.normalised) weights = ggml_div(c, weights, ggml_clamp(c, ggml_sum_rows(c, weights), kLeastSum, INFINITY));
    if (e.scale != 1) weights = ggml_scale(c, weights, e.scale);
    return {chosen, ggml_reshape_3d(c, weights, 1, e.used, rows)};
}

// w [width, outputs, experts] times x [width, 1 or used, rows] → [outputs, used, rows]: each row by its expert's.
ggml_tensor * by_expert(ggml_context * c, ggml_tensor * w, ggml_tensor * biases, ggml_tensor * x, ggml_tensor * ids) {
    ggml_tensor * y = ggml_mul_mat_id(c, w, x, ids);
    return biases ? ggml_add_id(c, y, biases, ids) : y;
}

}  // namespace

ggml_tensor * feed_to_experts(const LayerArgs & l, ggml_tensor * x) {
    ggml_context * c = l.c;
    const LayerWeights & w = l.w;
    const int64_t n = x->ne[0], rows = x->ne[1];
    const Routing r = route(l, x);
    x = ggml_reshape_3d(c, x, n, 1, rows);
    ggml_tensor * gate = by_expert(c, w.gate_experts, w.gate_biases, x, r.experts);
    ggml_tensor * up = by_expert(c, w.up_experts, w.up_biases, x, r.experts);
    ggml_tensor * inner = gated(c, l.hp.activation, gate, up);
    ggml_tensor * y = ggml_mul(c, by_expert(c, w.down_experts, w.down_biases, inner, r.experts), r.weights);
    ggml_tensor * sum = nullptr;  // over the experts that were used
    for (int i = 0; i < l.hp.experts.used; ++i) {
        ggml_tensor * one = ggml_view_2d(c, y, n, rows, y->nb[2], size_t(i) * y->nb[1]);
        sum = sum ? ggml_add(c, sum, one) : one;
    }
    return l.hp.experts.used > 1 ? sum : ggml_cont(c, sum);
}

}  // namespace kvasir
