// f32 by AVX2, FMA and F16C.
#include <algorithm>

#include "../attention/isa.h"
#include "kernel.h"

#define WIDTH 8

namespace kvasir::matmul_avx2 {

namespace {
constexpr int GROUPS = 2, BLOCK = 6;  // 12 of 16 registers are sums
constexpr int DEPTH = 512;            // a panel of 32 KiB
#include "../attention/vectors.inc"
#include "unpack.inc"
#include "gemm.inc"

bool usable() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2"); }

}  // namespace

extern const MatmulKernel kernel;
const MatmulKernel kernel = Matmul<F32>::make("avx2", GGML_TYPE_F32, usable);

}  // namespace kvasir::matmul_avx2
