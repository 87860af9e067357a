// Products of 16-bit integers with AVX-512 VNNI (Cascade Lake, Ice Lake …).
#include <algorithm>

#include "engine/kernels/simd/isa.h"
#include "kernel.h"

#define WIDTH 16

namespace kvasir::matmul_avx512vnni {

namespace {
constexpr int GROUPS = 4, BLOCK = 6;  // 24 of 32 registers are sums
constexpr int DEPTH = 1024;           // a panel of 128 KiB, which stays in the L2 cache
#include "engine/kernels/simd/vectors.inc"
#include "dequantize.inc"
#include "gemm.inc"
#include "integers.inc"
#include "products_int16.inc"

struct Dot {
    static IVec add(IVec sum, IVec x, IVec w) {
        return reinterpret_cast<IVec>(_mm512_dpwssd_epi32(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(x),
                                                          reinterpret_cast<__m512i>(w)));
    }
};

}  // namespace

extern const MatmulKernel kernel;
const MatmulKernel kernel = Matmul<Int16<Dot>>::make("avx512-vnni", has_avx512_vnni);

}  // namespace kvasir::matmul_avx512vnni
