#pragma once
// Products with weights, the one place that decides how they are computed.
//
// Thread safety: a graph belongs to the thread that builds it, and runs on a device's threads.
#include "backend.h"
#include "matmul/kernel.h"

namespace kvasir {

// weights [width, outputs] times x f32 [width, rows] → f32 [outputs, rows]. A kernel of ours for several rows and a
// matrix in plain host memory, ggml for everything else.
ggml_tensor * matmul(ggml_context * c, ggml_tensor * weights, ggml_tensor * x);

// The kernel of ours for products of several rows with weights [width, outputs, …]; null: there is none.
const MatmulKernel * rows_kernel(const ggml_tensor * weights);
// Rows [width, rows] as the kernel reads them, in a graph. Products that share their rows pack them once.
ggml_tensor * pack_rows(ggml_context * c, const MatmulKernel & kernel, ggml_tensor * x);
// The product with the matrix that begins at `offset` bytes of `weights`: share `ith` of `nth`.
void multiply_rows(const MatmulKernel & kernel, const ggml_tensor * weights, size_t offset, const float * packed,
                   float * out, int count, int ith, int nth);

}  // namespace kvasir
