#pragma once
// Products of many rows with a matrix of weights on the CPU, with sums in f32: weights are dequantized once for all
// rows of a pass, where ggml's own path quantises the rows and dequantizes weights for a few of them at a time.
//
// Thread safety: any thread may ask for kernels, and run jobs of its own. matmul_kernel() locks while it chooses.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ggml-backend.h"
#include "ggml.h"

namespace kvasir {

struct MatmulJob {
    ggml_type type;           // of the weights: one that matmul_kernel() gave this kernel for
    const uint8_t * weights;  // [outputs] rows of `width` weights each
    const float * rows;       // [count][kernel.cells(width)]
    float * out;              // f32 [count][outputs]
    int width;                // a multiple of 32
    int outputs;              // a multiple of 16
    int count;
    bool repacked = false;  // rows lie as in ggml's CPU_REPACK buffer: q4_K and q4_0
};

struct MatmulKernel {
    const char * name;
    double tolerance;  // of matmul_error()
    bool (*usable)();
    size_t scratch_bytes;
    // Rows are read as cells of 32 bits, whatever is in them: so many for a row of `width` weights, which is a multiple
    // of 32.
    size_t (*cells)(int width);
    void (*pack_row)(const float * row, int width, float * cells);  // null: the cells are the row itself
    // Share `ith` of `nth` of the job. A row's result depends neither on the other rows nor on the number of threads.
    // `scratch` is 64-byte aligned and this thread's own.
    void (*run)(const MatmulJob & job, int ith, int nth, void * scratch);

    // Weights and rows lose bits of f32.
    bool rounds() const { return tolerance > 1e-4; }
};

// The kernel for weights of this type on this CPU, once it has passed matmul_error() with them here; null: use ggml.
// KVASIR_MATMUL names the fastest that may be used ("avx512-bf16", "avx512-vnni", "avx512", "avx-vnni", "avx2-int16",
// "avx2"; "ggml": none); f16 weights, which no kernel that rounds takes, get the first behind it that does not.
const MatmulKernel * matmul_kernel(ggml_type type);
// The same for weights in `memory`, ggml's CPU_REPACK: q4_K and q4_0, as long as their layout is the one known here.
const MatmulKernel * matmul_kernel_repacked(ggml_type type, ggml_backend_buffer_type_t memory);
// The kernel for a few rows of which each shall have the bits that ggml's product of it alone has; null: use ggml.
const MatmulKernel * matmul_kernel_apart(ggml_type type);
// All such kernels for q8_0 that this CPU can run, tried here and found to have those bits, fastest first.
std::vector<const MatmulKernel *> matmul_kernels_apart();
// All that this build has and this CPU can run, fastest first; none of those for rows apart.
std::vector<const MatmulKernel *> matmul_kernels();
// f32 [count][width] as the kernel reads them.
std::vector<float> packed_rows(const MatmulKernel & kernel, const std::vector<float> & x, int width);
// Types of weights that the kernels read.
std::vector<ggml_type> matmul_types();
// Largest difference from sums in double on a small problem, as a share of the largest result; infinite where one is
// not finite. The weights are kept as `memory` keeps them, if one is given.
double matmul_error(const MatmulKernel & kernel, ggml_type type, ggml_backend_buffer_type_t memory = nullptr);

}  // namespace kvasir
