// f32 with AVX-512.
#include <algorithm>

#include "engine/kernels/simd/isa.h"
#include "kernel.h"

#define WIDTH 16

namespace kvasir::matmul_avx512 {

namespace {
constexpr int GROUPS = 4, BLOCK = 6;  // 24 of 32 registers are sums
constexpr int DEPTH = 512;            // a panel of 128 KiB, which stays in the L2 cache
#include "engine/kernels/simd/vectors.inc"
#include "dequantize.inc"
#include "gemm.inc"
#include "products_float.inc"

bool usable() { return has_avx512(); }

}  // namespace

extern const MatmulKernel kernel;
const MatmulKernel kernel = Matmul<Floats<F32>>::make("avx512", usable);

}  // namespace kvasir::matmul_avx512
