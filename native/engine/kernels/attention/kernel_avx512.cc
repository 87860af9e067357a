// f32 with AVX-512.
#include "kernel.h"
#include "engine/kernels/simd/isa.h"

#define WIDTH 16

namespace kvasir::avx512 {

namespace {
constexpr int BLOCK = 12;  // rows of sums: 24 of 32 registers
#include "engine/kernels/simd/vectors.inc"
#include "sources.inc"
#include "row.inc"
#include "rows.inc"
#include "multiply.inc"
#include "products_f32.inc"
#include "kernel.inc"

bool usable() { return has_avx512(); }

}  // namespace

extern const AttentionKernel kernel;
const AttentionKernel kernel = Kernel<F32>::make("avx512", usable);

}  // namespace kvasir::avx512
