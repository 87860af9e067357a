#pragma once
// The AMX tile operations that the kernels use: eight tiles of up to 16 rows × 64 bytes. Two implementations of one
// interface: the hardware's, and plain code that runs the same kernel in tests on machines without AMX.
//
// Thread safety: every thread has its own tiles; the object belongs to the thread that constructs it.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#ifdef __AMX_BF16__
#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "isa.h"
#endif

namespace kvasir {

// The operand of LDTILECFG: palette 1, eight tiles. Tiles 0 to 4, sums and a left operand, have `left` rows.
struct alignas(64) TileConfig {
    explicit TileConfig(int left) { std::fill_n(rows, 5, uint8_t(left)); }

    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t bytes_per_row[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);

#ifdef __AMX_BF16__
// Whether this processor has tiles of bf16 and its system lets this process use them. Linux (5.16 and later) reserves
// the 8 KiB that they take per thread only for processes that request it; other systems are not supported.
[[maybe_unused]] static bool has_amx_bf16() {
    if (!has_avx512() || !__builtin_cpu_supports("avx512bf16") || !__builtin_cpu_supports("avx512vnni")) return false;
    unsigned a, b, c, d;
    constexpr unsigned kAmxBf16 = 1u << 22, kAmxTile = 1u << 24, kOsXsave = 1u << 27, kTileState = 3u << 17;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & kAmxBf16) || !(d & kAmxTile)) return false;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kOsXsave)) return false;
    unsigned low, high;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if ((low & kTileState) != kTileState) return false;
#ifdef __linux__
    constexpr long kRequestPermission = 0x1023, kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
    return false;
#endif
}

// Tile state is per thread. ggml configures each thread once and relies on it, so the constructor sets our
// configuration and the destructor restores the previous one.
class HardwareTiles {
  public:
    explicit HardwareTiles(int left = 16) {
        const TileConfig ours(left);
        asm volatile("sttilecfg %0" : "=m"(before_));
        asm volatile("ldtilecfg %0" ::"m"(ours));
    }
    ~HardwareTiles() {
        if (before_.palette) asm volatile("ldtilecfg %0" ::"m"(before_));
        else asm volatile("tilerelease");
    }
    HardwareTiles(const HardwareTiles &) = delete;

    template <int T> static void zero() { asm volatile("tilezero %%tmm%c0" ::"i"(T)); }
    // 16 rows of 64 bytes, `stride` bytes apart.
    template <int T> static void load(const float * p, int64_t stride) {
        asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(p), "r"(stride), "i"(T) : "memory");
    }
    template <int T> static void save(float * p, int64_t stride) {
        asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(p), "r"(stride), "i"(T) : "memory");
    }
    // C[i][j] += Σ_k over pairs of bf16: A[i][k] · B[k][j].
    template <int C, int A, int B> static void dot() {
        asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
    }

  private:
    TileConfig before_{16};
};
#endif

// TDPBF16PS as the processor's manual defines it, except that the processor treats denormals as zero.
class EmulatedTiles {
  public:
    explicit EmulatedTiles(int left = 16) : before_(std::exchange(left_, left)) {}
    ~EmulatedTiles() { left_ = before_; }
    EmulatedTiles(const EmulatedTiles &) = delete;

    template <int T> static void zero() { std::memset(tile(T), 0, 1024); }
    template <int T> static void load(const float * p, int64_t stride) {
        for (int i = 0; i < rows(T); ++i)
            std::memcpy(tile(T) + 16 * i, reinterpret_cast<const char *>(p) + i * stride, 64);
    }
    template <int T> static void save(float * p, int64_t stride) {
        for (int i = 0; i < rows(T); ++i)
            std::memcpy(reinterpret_cast<char *>(p) + i * stride, tile(T) + 16 * i, 64);
    }
    template <int C, int A, int B> static void dot() {
        for (int i = 0; i < rows(C); ++i) {
            for (int j = 0; j < 16; ++j) {
                float even = 0, odd = 0, sum;
                for (int k = 0; k < 16; ++k) {
                    const uint32_t a = tile(A)[16 * i + k], b = tile(B)[16 * k + j];
                    even += number(a << 16) * number(b << 16);
                    odd += number(a & 0xFFFF0000) * number(b & 0xFFFF0000);
                }
                std::memcpy(&sum, &tile(C)[16 * i + j], sizeof sum);
                sum += even + odd;
                std::memcpy(&tile(C)[16 * i + j], &sum, sizeof sum);
            }
        }
    }

  private:
    static inline thread_local int left_ = 16;
    const int before_;
    static int rows(int t) { return t < 5 ? left_ : 16; }
    static uint32_t * tile(int t) {
        thread_local uint32_t tiles[8][256];
        return tiles[t];
    }
    static float number(uint32_t bits) {
        float f;
        std::memcpy(&f, &bits, sizeof f);
        return f;
    }
};

}  // namespace kvasir
