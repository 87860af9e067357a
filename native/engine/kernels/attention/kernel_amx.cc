// Products of bf16 with AMX tiles; everything else with AVX-512.
#include "kernel.h"
#include "engine/kernels/simd/isa.h"

#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "amx_tiles.h"
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

// Tile data takes 8 KiB per thread, which Linux (5.16 and later) reserves only for processes that request it.
bool permitted() {
#ifdef __linux__
    constexpr long kRequestPermission = 0x1023, kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
    return false;  // unsupported on other systems
#endif
}

bool usable() {
    if (!has_avx512() || !__builtin_cpu_supports("avx512bf16") || !__builtin_cpu_supports("avx512vnni")) return false;
    unsigned a, b, c, d;
    constexpr unsigned kAmxBf16 = 1u << 22, kAmxTile = 1u << 24, kOsXsave = 1u << 27, kTileState = 3u << 17;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & kAmxBf16) || !(d & kAmxTile)) return false;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kOsXsave)) return false;
    unsigned low, high;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & kTileState) == kTileState && permitted();
}
}  // namespace

extern const AttentionKernel kernel;
const AttentionKernel kernel = Kernel<AmxBf16<HardwareTiles>>::make("amx", usable);

}  // namespace kvasir::amx
