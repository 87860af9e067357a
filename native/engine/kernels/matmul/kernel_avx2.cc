// AVX2, FMA and F16C: products of 16-bit integers, and f32.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/kernels/simd/isa.h"
#include "kernel.h"

#define WIDTH 8

namespace kvasir::matmul_avx2 {

namespace {
constexpr int GROUPS = 2, BLOCK = 6;  // 12 of 16 registers are sums
constexpr int DEPTH = 512;            // a panel of 32 KiB, or 16
#include "engine/kernels/simd/vectors.inc"
#include "dequantize.inc"
#include "gemm.inc"
#include "products_float.inc"
#include "integers.inc"
#include "products_int16.inc"
#include "products_apart.inc"
#include "products_apart_256.inc"

struct Dot {
    static IVec add(IVec sum, IVec x, IVec w) {
        return reinterpret_cast<IVec>(
            _mm256_add_epi32(reinterpret_cast<__m256i>(sum),
                             _mm256_madd_epi16(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(w))));
    }
};

bool usable() { return has_avx2(); }

}  // namespace

extern const MatmulKernel kernel, int16_kernel, apart_kernel, apart_256_kernel;
const MatmulKernel kernel = Matmul<Floats<F32>>::make("avx2", usable);
const MatmulKernel int16_kernel = Matmul<Int16<Dot>>::make("avx2-int16", usable);
const MatmulKernel apart_kernel = RowsApart<WideBytes>::make("avx2-apart", usable);
const MatmulKernel apart_256_kernel = RowsApart256::make("avx2-apart-256", usable);

}  // namespace kvasir::matmul_avx2
