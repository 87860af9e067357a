// bf16 with AVX-512 (VDPBF16PS: Zen 4, Cooper Lake, Sapphire Rapids …): two weights of 16 outputs at a time.
#include <algorithm>

#include "engine/kernels/simd/isa.h"
#include "kernel.h"

#define WIDTH 16

namespace kvasir::matmul_avx512bf16 {

namespace {
constexpr int GROUPS = 4, BLOCK = 6;  // 24 of 32 registers are sums
constexpr int DEPTH = 1024;           // a panel of 128 KiB, which stays in the L2 cache
#include "engine/kernels/simd/vectors.inc"
#include "dequantize.inc"
#include "gemm.inc"
#include "products_float.inc"
#include "bf16_pairs.inc"

struct Bf16Vectors : Bf16Pairs {
    static Vec multiply_add(Vec sum, Vec x, Vec w) {
        return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(w), reinterpret_cast<__m512bh>(x));
    }
};

}  // namespace

extern const MatmulKernel kernel;
const MatmulKernel kernel = Matmul<Floats<Bf16Vectors>>::make("avx512-bf16", has_fast_bf16);

}  // namespace kvasir::matmul_avx512bf16
