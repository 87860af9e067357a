// Products of bf16 with AVX-512 (VDPBF16PS).
#include "kernel.h"
#include "engine/kernels/simd/isa.h"

#define WIDTH 16

namespace kvasir::avx512_bf16 {

namespace {
constexpr int BLOCK = 12;  // rows of sums: 24 of 32 registers
#include "engine/kernels/simd/vectors.inc"
#include "sources.inc"
#include "row.inc"
#include "rows.inc"
#include "multiply.inc"
#include "products_bf16.inc"
#include "products_vdp.inc"
#include "kernel.inc"

}  // namespace

extern const AttentionKernel kernel;
const AttentionKernel kernel = Kernel<Bf16Vectors>::make("avx512-bf16", has_fast_bf16);

}  // namespace kvasir::avx512_bf16
