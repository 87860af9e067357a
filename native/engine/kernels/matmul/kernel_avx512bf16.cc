// bf16 with AVX-512 (VDPBF16PS: Zen 4, Cooper Lake, Sapphire Rapids …): two weights of 16 outputs at a time.
#include <algorithm>

#include "engine/kernels/simd/isa.h"
#include "kernel.h"

#define WIDTH 16

namespace kvasir::matmul_avx512bf16 {

namespace {
constexpr int GROUPS = 4, BLOCK = 6;  // 24 of 32 registers are sums
constexpr int DEPTH = 1024;           // a panel of 128 KiB, which stays in the L2 cache
#include "engine/kernels/simd/vectors.inc"
#include "dequantize.inc"
#include "gemm.inc"
#include "products_float.inc"

struct Bf16Pairs {
    static constexpr int kWeights = 2;
    static constexpr double kTolerance = 0.02;
    static Vec pairs(Vec low, Vec high) { return reinterpret_cast<Vec>(_mm512_cvtne2ps_pbh(high, low)); }
    static Vec pack(const float * w) { return pairs(load(w), load(w + W)); }
    static Vec pack_q8_0(const uint8_t * b) {
        const float scale = f16(b);
        return pairs(scaled(signed_ints(b + 2), scale), scaled(signed_ints(b + 2 + W), scale));
    }
    static void pack_row(const float * row, int width, float * to) {
        for (int i = 0; i < width; i += 2 * W) store(to + i / 2, pack(row + i));
    }
    static Vec multiply_add(Vec sum, Vec x, Vec w) {
        return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(w), reinterpret_cast<__m512bh>(x));
    }
};

bool usable() { return has_avx512() && __builtin_cpu_supports("avx512bf16"); }

}  // namespace

extern const MatmulKernel kernel;
const MatmulKernel kernel = Matmul<Floats<Bf16Pairs>>::make("avx512-bf16", usable);

}  // namespace kvasir::matmul_avx512bf16
