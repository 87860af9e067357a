// bf16 with AMX tiles (Sapphire Rapids …): 16 rows × 16 outputs × 32 weights at a time.
#include <algorithm>
#include <utility>

#include "engine/kernels/simd/amx_tiles.h"
#include "engine/kernels/simd/isa.h"
#include "kernel.h"

#define WIDTH 16

namespace kvasir::matmul_amx {

namespace {
constexpr int GROUPS = 4, BLOCK = 16;
constexpr int DEPTH = 1024;  // a panel of 128 KiB, which stays in the L2 cache
#include "engine/kernels/simd/vectors.inc"
#include "dequantize.inc"
#include "gemm.inc"
#include "products_float.inc"
#include "bf16_pairs.inc"
#include "products_amx.inc"
}  // namespace

extern const MatmulKernel kernel;
const MatmulKernel kernel = Matmul<AmxBf16<HardwareTiles>>::make("amx", has_amx_bf16);

}  // namespace kvasir::matmul_amx
