#pragma once
// Products with weights; the only place that decides how they are computed.
//
// Thread safety: a graph belongs to the thread that builds it, and runs on a device's threads.
#include "engine/devices/backend.h"
#include "engine/kernels/matmul/kernel.h"

namespace kvasir {

// How several rows are computed: together by the fastest kernel, or each to the bit as if it were alone. The latter is
// also fast for a few rows: ggml's single-row product reads a weight once for all of them.
enum class Rows { together, apart };

// weights [width, outputs] times x f32 [width, rows] → f32 [outputs, rows]. Uses our kernels for several rows together
// and a matrix in host memory, and ggml for everything else.
ggml_tensor * matmul(ggml_context * c, ggml_tensor * weights, ggml_tensor * x, Rows rows = Rows::together);

// Our kernel for products of several rows with weights [width, outputs, …]; null if there is none.
const MatmulKernel * rows_kernel(const ggml_tensor * weights);
// Packs rows [width, rows] for the kernel, as a graph node. Products with the same rows share the packed rows.
ggml_tensor * pack_rows(ggml_context * c, const MatmulKernel & kernel, ggml_tensor * x);
// The product with the matrix at byte `offset` of `weights`: share `ith` of `nth`.
void multiply_rows(const MatmulKernel & kernel, const ggml_tensor * weights, size_t offset, const float * packed,
                   float * out, int count, int ith, int nth);

}  // namespace kvasir
