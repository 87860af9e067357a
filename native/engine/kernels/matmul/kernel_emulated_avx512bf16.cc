// The AMX kernel on emulated tiles, for tests on machines without AMX; much too slow for anything else.
#include <algorithm>
#include <utility>

#include "engine/kernels/simd/amx_tiles.h"
#include "engine/kernels/simd/isa.h"
#include "kernel.h"

#define WIDTH 16

namespace kvasir::matmul_amx_emulated {

namespace {
constexpr int GROUPS = 4, BLOCK = 16;
constexpr int DEPTH = 1024;  // a panel of 128 KiB, which stays in the L2 cache
#include "engine/kernels/simd/vectors.inc"
#include "dequantize.inc"
#include "gemm.inc"
#include "products_float.inc"
#include "bf16_pairs.inc"
#include "products_amx.inc"

bool usable() { return has_avx512() && __builtin_cpu_supports("avx512bf16"); }

}  // namespace

extern const MatmulKernel kernel;
const MatmulKernel kernel = Matmul<AmxBf16<EmulatedTiles>>::make("amx-emulated", usable);

}  // namespace kvasir::matmul_amx_emulated
