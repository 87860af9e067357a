#include "matmul.h"

#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/aligned.h"

namespace kvasir {

namespace {

#if defined(__x86_64__) || defined(_M_X64)
constexpr bool kX86 = true;
#else
constexpr bool kX86 = false;
#endif

bool in_plain_memory(const ggml_tensor * t) { return ggml_backend_buffer_is_host(t->buffer); }

const MatmulKernel * kernel_for(const ggml_tensor * w, const ggml_tensor * x) {
    // A single row reads every weight once, whatever is done with it; ggml already runs at memory speed.
    return x->type != GGML_TYPE_F32 || x->ne[1] == 1 || x->ne[2] > 1 ? nullptr : rows_kernel(w);
}

// src: f32 rows.
void pack_op(ggml_tensor * dst, int ith, int nth, void * userdata) {
    const auto & kernel = *static_cast<const MatmulKernel *>(userdata);
    const ggml_tensor * x = dst->src[0];
    for (int64_t r = x->ne[1] * ith / nth; r < x->ne[1] * (ith + 1) / nth; ++r) {
        const float * row = static_cast<const float *>(x->data) + r * x->ne[0];
        kernel.pack_row(row, int(x->ne[0]), static_cast<float *>(dst->data) + r * dst->ne[0]);
    }
}

// src: weights, packed rows.
void op(ggml_tensor * dst, int ith, int nth, void * userdata) {
    const auto & kernel = *static_cast<const MatmulKernel *>(userdata);
    const ggml_tensor * x = dst->src[1];
    multiply_rows(kernel, dst->src[0], 0, static_cast<const float *>(x->data), static_cast<float *>(dst->data),
                  int(x->ne[1]), ith, nth);
}

}  // namespace

ggml_tensor * pack_rows(ggml_context * c, const MatmulKernel & kernel, ggml_tensor * x) {
    if (!ggml_is_contiguous(x)) x = ggml_cont(c, x);
    if (!kernel.pack_row) return x;
    for (ggml_tensor * t = ggml_get_first_tensor(c); t; t = ggml_get_next_tensor(c, t))
        if (t->src[0] == x && std::strcmp(t->name, kernel.name) == 0) return t;
    ggml_tensor * rows = ggml_custom_4d(c, GGML_TYPE_F32, int64_t(kernel.cells(int(x->ne[0]))), x->ne[1], 1, 1, &x, 1,
                                        pack_op, GGML_N_TASKS_MAX, const_cast<MatmulKernel *>(&kernel));
    return ggml_set_name(rows, kernel.name);
}

const MatmulKernel * rows_kernel(const ggml_tensor * w) {
    if (!w->buffer || w->ne[0] % 32 != 0 || w->ne[1] % 16 != 0) return nullptr;
    return in_plain_memory(w) ? matmul_kernel(w->type)
                              : matmul_kernel_repacked(w->type, ggml_backend_buffer_get_type(w->buffer));
}

void multiply_rows(const MatmulKernel & kernel, const ggml_tensor * w, size_t offset, const float * packed, float * out,
                   int count, int ith, int nth) {
    const auto * weights = static_cast<const uint8_t *>(w->data) + offset;
    const MatmulJob job{w->type, weights, packed, out, int(w->ne[0]), int(w->ne[1]), count, !in_plain_memory(w)};
    thread_local std::vector<uint8_t> scratch;
    scratch.resize(kernel.scratch_bytes + 64);
    kernel.run(job, ith, nth, align_64(scratch.data()));
}

namespace {

ggml_tensor * matmul_by(ggml_context * c, const MatmulKernel & kernel, ggml_tensor * weights, ggml_tensor * x) {
    ggml_tensor * args[] = {weights, pack_rows(c, kernel, x)};
    return ggml_custom_4d(c, GGML_TYPE_F32, weights->ne[1], x->ne[1], 1, 1, args, 2, op, GGML_N_TASKS_MAX,
                          const_cast<MatmulKernel *>(&kernel));
}

// For several rows of one matrix, ggml may use kernels that sum in another order; for several matrices of one row it
// does not. x86's kernels for quantised weights in plain memory keep the order, and are faster.
ggml_tensor * matmul_apart(ggml_context * c, ggml_tensor * weights, ggml_tensor * x) {
    const bool plain = in_plain_memory(weights);
    if (kX86 && ggml_is_quantized(weights->type)) {
        const auto memory = plain ? nullptr : ggml_backend_buffer_get_type(weights->buffer);
        const MatmulKernel * kernel = x->type == GGML_TYPE_F32 ? matmul_kernel_apart(weights->type, memory) : nullptr;
        if (kernel) return matmul_by(c, *kernel, weights, x);
        if (plain) return ggml_mul_mat(c, weights, x);
    }
    ggml_tensor * y = ggml_mul_mat(c, weights, ggml_reshape_3d(c, x, x->ne[0], 1, x->ne[1]));
    return ggml_reshape_2d(c, y, weights->ne[1], x->ne[1]);
}

}  // namespace

ggml_tensor * matmul(ggml_context * c, ggml_tensor * weights, ggml_tensor * x, Rows rows) {
    if (rows == Rows::apart && x->ne[1] > 1 && x->ne[2] == 1) return matmul_apart(c, weights, x);
    const MatmulKernel * kernel = kernel_for(weights, x);
    return kernel ? matmul_by(c, *kernel, weights, x) : ggml_mul_mat(c, weights, x);
}

}  // namespace kvasir
