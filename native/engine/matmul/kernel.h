#pragma once
// Products of many rows with a q8_0 matrix on the CPU, in bf16 with sums in f32: weights are unpacked once for all rows of a
// pass, where ggml's own path quantises the rows and unpacks weights for a few of them at a time.
#include <cstddef>
#include <cstdint>

namespace kvasir {

struct MatmulJob {
    const uint8_t * weights;  // [outputs] rows of q8_0 blocks (ggml's block_q8_0: an f16 scale, then 32 int8), `width` weights each
    const uint16_t * rows;    // bf16 [count][width]
    float * out;              // f32 [count][outputs]
    int width;                // a multiple of 32
    int outputs;              // a multiple of 16
    int count;
};

struct MatmulKernel {
    const char * name;
    bool (*usable)();
    size_t scratch_bytes;
    // Share `ith` of `nth` of the job. A row's result depends neither on the other rows nor on the number of threads. `scratch`
    // is 64-byte aligned and this thread's own.
    void (*run)(const MatmulJob & job, int ith, int nth, void * scratch);
};

// The kernel of this CPU, once it has passed matmul_error() here; null: use ggml. KVASIR_MATMUL=ggml forces null.
const MatmulKernel * matmul_kernel();
// Largest difference from sums in double on a small problem, as a share of the largest result; infinite where one is not finite.
double matmul_error(const MatmulKernel & kernel);

}  // namespace kvasir
