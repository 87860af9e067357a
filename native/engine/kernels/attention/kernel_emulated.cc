// The AMX kernel on emulated tiles, for tests on machines without AMX; much too slow for anything else.
#include "kernel.h"
#include "engine/kernels/simd/isa.h"

#if defined(__GNUC__) || defined(__clang__)
#include "engine/kernels/simd/amx_tiles.h"
#define WIDTH 16

namespace kvasir::amx_emulated {

namespace {
#include "engine/kernels/simd/vectors.inc"
#include "sources.inc"
#include "row.inc"
#include "rows.inc"
#include "products_bf16.inc"
#include "products_amx.inc"
#include "kernel.inc"

bool usable() { return true; }
}  // namespace

extern const AttentionKernel kernel;
const AttentionKernel kernel = Kernel<AmxBf16<EmulatedTiles>>::make("amx-emulated", usable);

}  // namespace kvasir::amx_emulated
#endif
