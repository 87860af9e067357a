// Products of bytes with AVX-VNNI (Alder Lake, Zen 5 …).
#include <algorithm>

#include "engine/kernels/simd/isa.h"
#include "kernel.h"

#define WIDTH 8

namespace kvasir::matmul_avxvnni {

namespace {
constexpr int GROUPS = 4, BLOCK = 3;  // 12 of 16 registers are sums
constexpr int DEPTH = 512;             // a panel of 18 KiB
#include "engine/kernels/simd/vectors.inc"
#include "dequantize.inc"
#include "gemm.inc"
#include "integers.inc"
#include "products_int8.inc"

struct Dot {
    static IVec add(IVec sum, IVec w, IVec x) {
        return reinterpret_cast<IVec>(_mm256_dpbusd_avx_epi32(
            reinterpret_cast<__m256i>(sum), reinterpret_cast<__m256i>(w), reinterpret_cast<__m256i>(x)));
    }
};

}  // namespace

extern const MatmulKernel bytes_kernel;
const MatmulKernel bytes_kernel = Matmul<Int8<Dot>>::make("avx-int8", has_avx_vnni);

}  // namespace kvasir::matmul_avxvnni
