// f32 in groups of four floats, compiled to NEON, SSE2 or plain code.
#include "kernel.h"
#include "engine/kernels/simd/isa.h"

#if defined(__GNUC__) || defined(__clang__)
#define WIDTH 4

namespace kvasir::generic {

namespace {
#ifdef __aarch64__
constexpr int BLOCK = 12;  // rows of sums: 24 of 32 registers
constexpr const char * kName = "neon";
#else
constexpr int BLOCK = 6;  // 12 of 16
constexpr const char * kName = "generic";
#endif
#include "engine/kernels/simd/vectors.inc"
#include "sources.inc"
#include "row.inc"
#include "rows.inc"
#include "multiply.inc"
#include "products_f32.inc"
#include "kernel.inc"

bool usable() { return true; }
}  // namespace

extern const AttentionKernel kernel;
const AttentionKernel kernel = Kernel<F32>::make(kName, usable);

}  // namespace kvasir::generic
#endif
