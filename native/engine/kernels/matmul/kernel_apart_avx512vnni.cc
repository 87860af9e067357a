// Rows apart with the VNNI of AVX-512 processors (Cascade Lake, Ice Lake, Zen 4 …), on 256-bit vectors: a lane must
// hold the same products as ggml's.
#include <algorithm>
#include <numeric>

#include "engine/kernels/simd/isa.h"
#include "kernel.h"

#define WIDTH 8

namespace kvasir::matmul_avx512vnni {

namespace {
#include "engine/kernels/simd/vectors.inc"
#include "products_apart.inc"

struct DotBytes {
    static __m256i add(__m256i sum, __m256i x, __m256i w) { return _mm256_dpbusd_epi32(sum, x, w); }
};

bool usable() { return has_avx2() && has_avx512_vnni(); }

}  // namespace

extern const MatmulKernel apart_kernel;
const MatmulKernel apart_kernel = RowsApart<VnniBytes<DotBytes>>::make("avx512-vnni-apart", usable);

}  // namespace kvasir::matmul_avx512vnni
