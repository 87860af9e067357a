#pragma once
// Products of many rows with a matrix of weights on the CPU, with sums in f32: weights are dequantized once for all
// rows of a pass, whereas ggml's path quantises the rows and dequantizes weights for a few rows at a time.
//
// Thread safety: any thread may look up kernels and run its own jobs. matmul_kernel() locks while it chooses.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ggml-backend.h"
#include "ggml.h"

namespace kvasir {

struct MatmulJob {
    ggml_type type;           // of the weights: one that matmul_kernel() returned this kernel for
    const uint8_t * weights;  // [outputs] rows of `width` weights each
    const float * rows;       // [count][kernel.cells(width)]
    float * out;              // f32 [count][outputs]
    int width;                // a multiple of 32
    int outputs;              // a multiple of 16
    int count;
    bool repacked = false;  // rows are in the layout of ggml's CPU_REPACK buffer: q4_K and q4_0
};

struct MatmulKernel {
    const char * name;
    double tolerance;  // for matmul_error()
    bool (*usable)();
    size_t scratch_bytes;
    // Number of 32-bit cells, whatever they contain, for a row of `width` weights (a multiple of 32).
    size_t (*cells)(int width);
    void (*pack_row)(const float * row, int width, float * cells);  // null: the cells are the row itself
    // Computes share `ith` of `nth` of the job. A row's result depends neither on the other rows nor on the number of
    // threads. `scratch` is 64-byte aligned and owned by this thread.
    void (*run)(const MatmulJob & job, int ith, int nth, void * scratch);

    // Whether weights and rows lose bits of f32.
    bool rounds() const { return tolerance > 1e-4; }
    // Whether they are rounded to bytes.
    bool bytes() const { return tolerance > 0.025; }
};

// The kernel for weights of this type on this CPU, once it has passed matmul_error() with them; null: use ggml.
// KVASIR_MATMUL names the fastest kernel allowed ("amx", "avx512-int8", "avx512-bf16", "avx512-vnni", "avx512",
// "avx-int8", "avx-vnni", "avx2-int16", "avx2"; "ggml": none). f16 weights, which no rounding kernel accepts, get the
// first non-rounding one from there on; bf16 weights the first that does not round to bytes.
const MatmulKernel * matmul_kernel(ggml_type type);
// The same for weights in `memory`, ggml's CPU_REPACK: q4_K and q4_0, if their layout is the one known here.
const MatmulKernel * matmul_kernel_repacked(ggml_type type, ggml_backend_buffer_type_t memory);
// The kernel for a few rows, each with the exact bits of ggml's single-row product with weights in plain memory, or in
// `memory`, ggml's CPU_REPACK; null: use ggml.
const MatmulKernel * matmul_kernel_apart(ggml_type type, ggml_backend_buffer_type_t memory = nullptr);
// All such kernels that this CPU can run and that were verified to have those bits, fastest first.
std::vector<const MatmulKernel *> matmul_kernels_apart(ggml_type type, ggml_backend_buffer_type_t memory = nullptr);
// All kernels in this build that this CPU can run, fastest first; excludes those for rows apart.
std::vector<const MatmulKernel *> matmul_kernels();
// Packs f32 [count][width] for the kernel.
std::vector<float> packed_rows(const MatmulKernel & kernel, const std::vector<float> & x, int width);
// Types of weights that the kernels read.
std::vector<ggml_type> matmul_types();
// Largest difference from sums in double on a small problem, relative to the largest result; infinite if any result is
// not finite. The weights are stored in the format of `memory`, if given.
double matmul_error(const MatmulKernel & kernel, ggml_type type, ggml_backend_buffer_type_t memory = nullptr);

}  // namespace kvasir
