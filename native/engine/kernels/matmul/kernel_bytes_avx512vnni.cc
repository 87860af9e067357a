// Products of bytes with AVX-512 VNNI (Cascade Lake, Ice Lake, Zen 4 …).
#include <algorithm>

#include "engine/kernels/simd/isa.h"
#include "kernel.h"

#define WIDTH 16

namespace kvasir::matmul_avx512vnni {

namespace {
constexpr int GROUPS = 4, BLOCK = 6;
constexpr int DEPTH = 512;  // a panel of 36 KiB, which stays in the L1 cache of newer processors
#include "engine/kernels/simd/vectors.inc"
#include "dequantize.inc"
#include "gemm.inc"
#include "integers.inc"
#include "products_int8.inc"

struct Dot {
    static IVec add(IVec sum, IVec w, IVec x) {
        return reinterpret_cast<IVec>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(w),
                                                          reinterpret_cast<__m512i>(x)));
    }
};

}  // namespace

extern const MatmulKernel bytes_kernel;
const MatmulKernel bytes_kernel = Matmul<Int8<Dot>>::make("avx512-int8", has_avx512_vnni);

}  // namespace kvasir::matmul_avx512vnni
