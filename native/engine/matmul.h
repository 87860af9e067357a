#pragma once
// Products with weights, the one place that decides how they are computed.
//
// Thread safety: a graph belongs to the thread that builds it, and runs on a device's threads.
#include "backend.h"
#include "matmul/kernel.h"

namespace kvasir {

// How several rows are computed: together by the fastest kernel for many, or each to the bit as if it were alone. For a
// few that is fast as well: ggml's product of one row reads a weight once for all of them.
enum class Rows { together, apart };

// weights [width, outputs] times x f32 [width, rows] → f32 [outputs, rows]. A kernel of ours for several rows together
// and a matrix in host memory, ggml for everything else.
ggml_tensor * matmul(ggml_context * c, ggml_tensor * weights, ggml_tensor * x, Rows rows = Rows::together);

// The kernel of ours for products of several rows with weights [width, outputs, …]; null: there is none.
const MatmulKernel * rows_kernel(const ggml_tensor * weights);
// Rows [width, rows] as the kernel reads them, in a graph. Products that share their rows pack them once.
ggml_tensor * pack_rows(ggml_context * c, const MatmulKernel & kernel, ggml_tensor * x);
// The product with the matrix that begins at `offset` bytes of `weights`: share `ith` of `nth`.
void multiply_rows(const MatmulKernel & kernel, const ggml_tensor * weights, size_t offset, const float * packed,
                   float * out, int count, int ith, int nth);

}  // namespace kvasir
