// Products of bf16 with AMX tiles; everything else with AVX-512.
#include "kernel.h"
#include "engine/kernels/simd/isa.h"

#include "engine/kernels/simd/amx_tiles.h"
#define WIDTH 16

namespace kvasir::amx {

namespace {
#include "engine/kernels/simd/vectors.inc"
#include "sources.inc"
#include "row.inc"
#include "rows.inc"
#include "products_bf16.inc"
#include "products_amx.inc"
#include "kernel.inc"
}  // namespace

extern const AttentionKernel kernel;
const AttentionKernel kernel = Kernel<AmxBf16<HardwareTiles>>::make("amx", has_amx_bf16);

}  // namespace kvasir::amx
