// Products of 16-bit numbers by AVX-VNNI (Alder Lake, Zen 5 …).
#include <algorithm>

#include "engine/simd/isa.h"
#include "kernel.h"

#include <cpuid.h>

#define WIDTH 8

namespace kvasir::matmul_avxvnni {

namespace {
constexpr int GROUPS = 2, BLOCK = 6;  // 12 of 16 registers are sums
constexpr int DEPTH = 512;            // a panel of 16 KiB
#include "engine/simd/vectors.inc"
#include "dequantize.inc"
#include "gemm.inc"
#include "products_int16.inc"

struct Dot {
    static IVec add(IVec sum, IVec x, IVec w) {
        return reinterpret_cast<IVec>(_mm256_dpwssd_avx_epi32(
            reinterpret_cast<__m256i>(sum), reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(w)));
    }
};

bool usable() {
    // The first asks whether the system keeps the registers, too.
    if (!has_avx2()) return false;
    unsigned a, b, c, d;
    constexpr unsigned kAvxVnni = 1u << 4;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & kAvxVnni);
}

}  // namespace

extern const MatmulKernel kernel;
const MatmulKernel kernel = Matmul<Int16<Dot>>::make("avx-vnni", usable);

}  // namespace kvasir::matmul_avxvnni
