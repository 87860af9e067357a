// f32 with AVX2, FMA and F16C.
#include "kernel.h"
#include "engine/kernels/simd/isa.h"

#define WIDTH 8

namespace kvasir::avx2 {

namespace {
constexpr int BLOCK = 6;  // rows of sums: 12 of 16 registers
#include "engine/kernels/simd/vectors.inc"
#include "sources.inc"
#include "row.inc"
#include "rows.inc"
#include "multiply.inc"
#include "products_f32.inc"
#include "kernel.inc"

bool usable() { return has_avx2(); }

}  // namespace

extern const AttentionKernel kernel;
const AttentionKernel kernel = Kernel<F32>::make("avx2", usable);

}  // namespace kvasir::avx2
