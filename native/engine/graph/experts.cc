#include "experts.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/kernels/matmul.h"
#include "layers.h"

namespace kvasir {

namespace {

// The smallest normal f16, as in llama.cpp: weights whose sum is below it are not normalised.
constexpr float kLeastSum = 6.103515625e-5f;

struct Routing {
    ggml_tensor * experts;  // [used, rows] i32
    ggml_tensor * weights;  // [1, used, rows]
};

Routing route(const LayerArgs & l, ggml_tensor * seen) {
    ggml_context * c = l.c;
    const Experts & e = l.hp.experts;
    const int64_t rows = seen->ne[1];
    ggml_tensor * scores = linear(l, l.w.router, l.w.router_bias, seen);  // [experts, rows]
    if (e.gating == Gating::softmax) scores = ggml_soft_max(c, scores);
    if (e.gating == Gating::sigmoid) scores = ggml_sigmoid(c, scores);
    ggml_tensor * liked = l.w.choice_bias ? ggml_add(c, scores, l.w.choice_bias) : scores;
    ggml_tensor * chosen = ggml_argsort_top_k(c, liked, e.used);
    ggml_tensor * weights = ggml_get_rows(c, ggml_reshape_3d(c, scores, 1, e.count, rows), chosen);  // [1, used, rows]
    weights = ggml_reshape_2d(c, weights, e.used, rows);
    if (e.gating == Gating::softmax_of_chosen) weights = ggml_soft_max(c, weights);
    if (e.normalised) weights = ggml_div(c, weights, ggml_clamp(c, ggml_sum_rows(c, weights), kLeastSum, INFINITY));
    if (e.scale != 1) weights = ggml_scale(c, weights, e.scale);
    if (l.w.expert_scales) {
        ggml_tensor * scales = ggml_reshape_3d(c, l.w.expert_scales, 1, e.count, 1);
        scales = ggml_repeat_4d(c, scales, 1, e.count, rows, 1);
        weights = ggml_mul(c, weights, ggml_reshape_2d(c, ggml_get_rows(c, scales, chosen), e.used, rows));
    }
    return {chosen, ggml_reshape_3d(c, weights, 1, e.used, rows)};
}

// w [width, outputs, experts] times x [width, 1 or used, rows] → [outputs, used, rows]: each row by its expert's
// matrix.
ggml_tensor * by_expert(ggml_context * c, ggml_tensor * w, ggml_tensor * biases, ggml_tensor * x, ggml_tensor * ids) {
    ggml_tensor * y = ggml_mul_mat_id(c, w, x, ids);
    return biases ? ggml_add_id(c, y, biases, ids) : y;
}

// The rows of a pass sorted by expert, so that the rows of one expert form one product. A row that goes to several
// experts occurs once for each. One i32 tensor: the begin of each expert's rows and the end of all [experts + 1], the
// choice (row times `used`, plus its index) at each place, and the place of each choice.
struct Order {
    const int32_t *begins, *choices, *places;

    Order(const ggml_tensor * t, int64_t experts, int64_t n)
        : begins(static_cast<const int32_t *>(t->data)), choices(begins + experts + 1), places(choices + n) {}
};

// src: chosen experts [used, rows]. Stable sort: rows keep their order.
void sort_op(ggml_tensor * dst, int ith, int, void *) {
    if (ith != 0) return;
    const ggml_tensor * chosen = dst->src[0];
    const int64_t n = ggml_nelements(chosen), experts = dst->ne[0] - 2 * n - 1;
    auto * begins = static_cast<int32_t *>(dst->data);
    int32_t *choices = begins + experts + 1, *places = choices + n;
    const auto expert = [&](int64_t i) {
        const auto * row = static_cast<const char *>(chosen->data) + i / chosen->ne[0] * int64_t(chosen->nb[1]);
        return reinterpret_cast<const int32_t *>(row)[i % chosen->ne[0]];
    };
    std::fill_n(begins, experts + 1, 0);
    for (int64_t i = 0; i < n; ++i) ++begins[expert(i) + 1];
    for (int64_t e = 0; e < experts; ++e) begins[e + 1] += begins[e];
    std::vector<int32_t> next(begins, begins + experts);
    for (int64_t i = 0; i < n; ++i) places[i] = next[size_t(expert(i))]++;
    for (int64_t i = 0; i < n; ++i) choices[places[i]] = int32_t(i);
}

// src: rows of the pass [width, rows], order. Packs the row of each place for the kernel in userdata.
void sort_rows_op(ggml_tensor * dst, int ith, int nth, void * userdata) {
    const auto & kernel = *static_cast<const MatmulKernel *>(userdata);
    const ggml_tensor *x = dst->src[0], *order = dst->src[1];
    const int64_t n = dst->ne[1], used = n / x->ne[1], width = x->ne[0];
    const int32_t * choices = Order(order, order->ne[0] - 2 * n - 1, n).choices;
    for (int64_t p = n * ith / nth; p < n * (ith + 1) / nth; ++p) {
        const float * row = static_cast<const float *>(x->data) + choices[p] / used * width;
        float * cells = static_cast<float *>(dst->data) + p * dst->ne[0];
        if (kernel.pack_row) kernel.pack_row(row, int(width), cells);
        else std::memcpy(cells, row, size_t(width) * sizeof(float));
    }
}

// src: weights [width, outputs, experts], packed rows, order, biases [outputs, experts] or none.
void multiply_op(ggml_tensor * dst, int ith, int nth, void * userdata) {
    const auto & kernel = *static_cast<const MatmulKernel *>(userdata);
    const ggml_tensor *w = dst->src[0], *rows = dst->src[1];
    const Order order(dst->src[2], w->ne[2], rows->ne[1]);
    for (int64_t e = 0; e < w->ne[2]; ++e) {
        const int64_t first = order.begins[e], count = order.begins[e + 1] - first;
        if (!count) continue;
        multiply_rows(kernel, w, size_t(e) * w->nb[2], static_cast<const float *>(rows->data) + first * rows->ne[0],
                      static_cast<float *>(dst->data) + first * dst->ne[0], int(count), ith, nth);
    }
}

// src: rows [outputs, places], biases [outputs, experts], order.
void bias_op(ggml_tensor * dst, int ith, int nth, void *) {
    const ggml_tensor *x = dst->src[0], *biases = dst->src[1];
    const int64_t n = x->ne[1], width = x->ne[0];
    const Order order(dst->src[2], biases->ne[1], n);
    int64_t e = 0;
    for (int64_t p = n * ith / nth; p < n * (ith + 1) / nth; ++p) {
        while (order.begins[e + 1] <= p) ++e;
        const float * from = static_cast<const float *>(x->data) + p * width;
        const float * bias = static_cast<const float *>(biases->data) + e * width;
        float * to = static_cast<float *>(dst->data) + p * width;
        for (int64_t i = 0; i < width; ++i) to[i] = from[i] + bias[i];
    }
}

// src: results [n_embd, places], weights [1, used, rows], order. Each row is the weighted sum of its experts' results.
void merge_op(ggml_tensor * dst, int ith, int nth, void *) {
    const ggml_tensor *y = dst->src[0], *weights = dst->src[1];
    const int64_t n = y->ne[1], used = weights->ne[1], width = dst->ne[0], rows = dst->ne[1];
    const Order order(dst->src[2], dst->src[2]->ne[0] - 2 * n - 1, n);
    for (int64_t r = rows * ith / nth; r < rows * (ith + 1) / nth; ++r) {
        float * out = static_cast<float *>(dst->data) + r * width;
        for (int64_t i = 0; i < used; ++i) {
            const float weight = static_cast<const float *>(weights->data)[r * used + i];
            const float * row = static_cast<const float *>(y->data) + order.places[r * used + i] * width;
            for (int64_t d = 0; d < width; ++d) out[d] = i ? out[d] + weight * row[d] : weight * row[d];
        }
    }
}

// Computes all experts' products with our kernels, on rows sorted by expert.
class SortedExperts {
  public:
    SortedExperts(ggml_context * c, ggml_tensor * chosen, int64_t experts)
        : c_(c), n_(ggml_nelements(chosen)) {
        order_ = ggml_custom_4d(c, GGML_TYPE_I32, experts + 1 + 2 * n_, 1, 1, 1, &chosen, 1, sort_op, 1, nullptr);
    }

    // x: the rows of the pass.
    ggml_tensor * sort(const MatmulKernel & kernel, ggml_tensor * x) {
        ggml_tensor * args[] = {x, order_};
        return custom(int64_t(kernel.cells(int(x->ne[0]))), n_, args, 2, sort_rows_op, &kernel);
    }
    ggml_tensor * multiply(ggml_tensor * w, ggml_tensor * biases, ggml_tensor * packed) {
        ggml_tensor * args[] = {w, packed, order_};
        ggml_tensor * y = custom(w->ne[1], n_, args, 3, multiply_op, rows_kernel(w));
        if (!biases) return y;
        ggml_tensor * biased[] = {y, biases, order_};
        return custom(w->ne[1], n_, biased, 3, bias_op, nullptr);
    }
    ggml_tensor * merge(ggml_tensor * y, ggml_tensor * weights) {
        ggml_tensor * args[] = {y, weights, order_};
        return custom(y->ne[0], weights->ne[2], args, 3, merge_op, nullptr);
    }

  private:
    ggml_tensor * custom(int64_t width, int64_t rows, ggml_tensor ** args, int count,
                         ggml_custom_op_t op, const MatmulKernel * kernel) {
        return ggml_custom_4d(c_, GGML_TYPE_F32, width, rows, 1, 1, args, count, op, GGML_N_TASKS_MAX,
                              const_cast<MatmulKernel *>(kernel));
    }

    ggml_context * c_;
    ggml_tensor * order_;
    int64_t n_;
};

ggml_tensor * by_our_kernels(const LayerArgs & l, ggml_tensor * x, const Routing & r) {
    const LayerWeights & w = l.w;
    SortedExperts sorted(l.c, r.experts, l.hp.experts.count);
    ggml_tensor * inner;
    if (w.gate_up_experts) {
        ggml_tensor * rows = sorted.sort(*rows_kernel(w.gate_up_experts), x);
        inner = gated_halves(l.c, l.hp.activation, sorted.multiply(w.gate_up_experts, nullptr, rows));
    } else {
        ggml_tensor * rows = sorted.sort(*rows_kernel(w.gate_experts), x);
        ggml_tensor * gate = sorted.multiply(w.gate_experts, w.gate_biases, rows);
        if (rows_kernel(w.up_experts) != rows_kernel(w.gate_experts)) rows = sorted.sort(*rows_kernel(w.up_experts), x);
        inner = gated(l.c, l.hp.activation, gate, sorted.multiply(w.up_experts, w.up_biases, rows));
    }
    inner = pack_rows(l.c, *rows_kernel(w.down_experts), inner);
    return sorted.merge(sorted.multiply(w.down_experts, w.down_biases, inner), r.weights);
}

// With ggml: for a single row, weights that none of our kernels reads, or other devices.
ggml_tensor * by_ggml(const LayerArgs & l, ggml_tensor * x, const Routing & r) {
    ggml_context * c = l.c;
    const LayerWeights & w = l.w;
    const int64_t n = x->ne[0], rows = x->ne[1];
    x = ggml_reshape_3d(c, x, n, 1, rows);
    ggml_tensor * inner;
    if (w.gate_up_experts) {
        inner = gated_halves(c, l.hp.activation, by_expert(c, w.gate_up_experts, nullptr, x, r.experts));
    } else {
        ggml_tensor * gate = by_expert(c, w.gate_experts, w.gate_biases, x, r.experts);
        inner = gated(c, l.hp.activation, gate, by_expert(c, w.up_experts, w.up_biases, x, r.experts));
    }
    ggml_tensor * y = ggml_mul(c, by_expert(c, w.down_experts, w.down_biases, inner, r.experts), r.weights);
    ggml_tensor * sum = nullptr;  // over the chosen experts
    for (int i = 0; i < l.hp.experts.used; ++i) {
        ggml_tensor * one = ggml_view_2d(c, y, n, rows, y->nb[2], size_t(i) * y->nb[1]);
        sum = sum ? ggml_add(c, sum, one) : one;
    }
    return l.hp.experts.used > 1 ? sum : ggml_cont(c, sum);
}

}  // namespace

ggml_tensor * feed_to_experts(const LayerArgs & l, ggml_tensor * x, ggml_tensor * seen) {
    const Routing r = route(l, seen);
    const auto is_ours = [](const ggml_tensor * w) { return !w || rows_kernel(w) != nullptr; };
    const bool ours = x->ne[1] > 1 && l.rows == Rows::together && is_ours(l.w.gate_experts) &&
                      is_ours(l.w.up_experts) && is_ours(l.w.gate_up_experts) && is_ours(l.w.down_experts);
    return ours ? by_our_kernels(l, x, r) : by_ggml(l, x, r);
}

}  // namespace kvasir
