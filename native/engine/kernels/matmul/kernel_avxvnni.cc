// Products of 16-bit integers with AVX-VNNI (Alder Lake, Zen 5 …).
#include <algorithm>
#include <numeric>

#include "engine/kernels/simd/isa.h"
#include "kernel.h"

#define WIDTH 8

namespace kvasir::matmul_avxvnni {

namespace {
constexpr int GROUPS = 2, BLOCK = 6;  // 12 of 16 registers are sums
constexpr int DEPTH = 512;            // a panel of 16 KiB
#include "engine/kernels/simd/vectors.inc"
#include "dequantize.inc"
#include "gemm.inc"
#include "integers.inc"
#include "products_int16.inc"
#include "products_apart.inc"

struct DotBytes {
    static __m256i add(__m256i sum, __m256i x, __m256i w) { return _mm256_dpbusd_avx_epi32(sum, x, w); }
};

struct Dot {
    static IVec add(IVec sum, IVec x, IVec w) {
        return reinterpret_cast<IVec>(_mm256_dpwssd_avx_epi32(
            reinterpret_cast<__m256i>(sum), reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(w)));
    }
};

}  // namespace

extern const MatmulKernel kernel, apart_kernel;
const MatmulKernel kernel = Matmul<Int16<Dot>>::make("avx-vnni", has_avx_vnni);
const MatmulKernel apart_kernel = RowsApart<VnniBytes<DotBytes>>::make("avx-vnni-apart", has_avx_vnni);

}  // namespace kvasir::matmul_avxvnni
