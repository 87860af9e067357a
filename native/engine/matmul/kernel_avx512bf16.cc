// AVX-512 with BF16 (Zen 4, Cooper Lake, Sapphire Rapids …): 16 outputs a vector, two weights of each at a time (VDPBF16PS).
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#include "kernel.h"

namespace kvasir::matmul_avx512bf16 {

namespace {

constexpr int kBlock = 32, kBlockBytes = 34;      // of q8_0
constexpr int kGroups = 4, kPanel = 16 * kGroups;  // outputs unpacked together
constexpr int kDepth = 1024;                       // weights of each unpacked together: 128 KiB, which stay in the L2 cache
constexpr int kRows = 6;                           // rows at once: 24 sums and the operands fill the registers
constexpr int kRowsApart = 96;                     // a share is not cut into fewer rows than this

bool usable() { return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw"); }

// 16 × 16 numbers of 32 bits, in place.
inline void transpose(__m512i r[16]) {
    __m512i a[16], b[16];
    for (int i = 0; i < 8; ++i) {
        a[2 * i] = _mm512_unpacklo_epi32(r[2 * i], r[2 * i + 1]);
        a[2 * i + 1] = _mm512_unpackhi_epi32(r[2 * i], r[2 * i + 1]);
    }
    for (int i = 0; i < 4; ++i) {
        b[4 * i] = _mm512_unpacklo_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 1] = _mm512_unpackhi_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 2] = _mm512_unpacklo_epi64(a[4 * i + 1], a[4 * i + 3]);
        b[4 * i + 3] = _mm512_unpackhi_epi64(a[4 * i + 1], a[4 * i + 3]);
    }
    for (int j = 0; j < 4; ++j) {  // b[4 i + j] holds in its lane l rows 4 i … 4 i + 3 of column 4 l + j
        const __m512i c0 = _mm512_shuffle_i32x4(b[j], b[4 + j], 0x88), c1 = _mm512_shuffle_i32x4(b[j], b[4 + j], 0xdd);
        const __m512i d0 = _mm512_shuffle_i32x4(b[8 + j], b[12 + j], 0x88), d1 = _mm512_shuffle_i32x4(b[8 + j], b[12 + j], 0xdd);
        r[j] = _mm512_shuffle_i32x4(c0, d0, 0x88);
        r[8 + j] = _mm512_shuffle_i32x4(c0, d0, 0xdd);
        r[4 + j] = _mm512_shuffle_i32x4(c1, d1, 0x88);
        r[12 + j] = _mm512_shuffle_i32x4(c1, d1, 0xdd);
    }
}

// One block of q8_0 as 32 bf16.
inline __m512i unpack(const uint8_t * block) {
    uint16_t bits;
    std::memcpy(&bits, block, sizeof bits);
    const __m512 scale = _mm512_set1_ps(_cvtsh_ss(bits));
    const __m256i q = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(block + 2));
    const __m512 low = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm256_castsi256_si128(q)));
    const __m512 high = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm256_extracti128_si256(q, 1)));
    return (__m512i) _mm512_cvtne2ps_pbh(_mm512_mul_ps(high, scale), _mm512_mul_ps(low, scale));
}

// Weights [depth, depth + length) of outputs first … first + 16 groups − 1 → panel [length / 2][16 groups] pairs.
void unpack_panel(const MatmulJob & job, int first, int groups, int depth, int length, __m512i * panel) {
    const size_t row_bytes = size_t(job.width) / kBlock * kBlockBytes;
    for (int g = 0; g < groups; ++g) {
        const uint8_t * base = job.weights + size_t(first + 16 * g) * row_bytes + size_t(depth) / kBlock * kBlockBytes;
        for (int b = 0; b < length / kBlock; ++b) {
            __m512i r[16];
            for (int i = 0; i < 16; ++i) r[i] = unpack(base + size_t(i) * row_bytes + size_t(b) * kBlockBytes);
            transpose(r);
            for (int i = 0; i < 16; ++i) panel[size_t(b * 16 + i) * size_t(groups) + size_t(g)] = r[i];
        }
    }
}

// R rows times a panel, added to what earlier depths gave (or put there, when this is the first).
template <int R, int G>
void multiply(const MatmulJob & job, int row, int first, int depth, int length, const __m512i * panel) {
    __m512 sum[R][G];
    float * out = job.out + size_t(row) * size_t(job.outputs) + first;
    for (int r = 0; r < R; ++r)
        for (int g = 0; g < G; ++g) sum[r][g] = depth ? _mm512_loadu_ps(out + size_t(r) * size_t(job.outputs) + 16 * g) : _mm512_setzero_ps();
    const uint16_t * x = job.rows + size_t(row) * size_t(job.width) + depth;
    for (int p = 0; p < length / 2; ++p) {
        __m512i w[G];
        for (int g = 0; g < G; ++g) w[g] = panel[size_t(p) * G + size_t(g)];
        for (int r = 0; r < R; ++r) {
            int32_t pair;
            std::memcpy(&pair, x + size_t(r) * size_t(job.width) + 2 * p, sizeof pair);
            const __m512bh both = (__m512bh) _mm512_set1_epi32(pair);
            for (int g = 0; g < G; ++g) sum[r][g] = _mm512_dpbf16_ps(sum[r][g], (__m512bh) w[g], both);
        }
    }
    for (int r = 0; r < R; ++r)
        for (int g = 0; g < G; ++g) _mm512_storeu_ps(out + size_t(r) * size_t(job.outputs) + 16 * g, sum[r][g]);
}

template <int G>
void multiply_rows(const MatmulJob & job, int begin, int end, int first, int depth, int length, const __m512i * panel) {
    int r = begin;
    for (; r + kRows <= end; r += kRows) multiply<kRows, G>(job, r, first, depth, length, panel);
    switch (end - r) {
        case 5: return multiply<5, G>(job, r, first, depth, length, panel);
        case 4: return multiply<4, G>(job, r, first, depth, length, panel);
        case 3: return multiply<3, G>(job, r, first, depth, length, panel);
        case 2: return multiply<2, G>(job, r, first, depth, length, panel);
        case 1: return multiply<1, G>(job, r, first, depth, length, panel);
        default: return;
    }
}

void run_panel(const MatmulJob & job, int first, int begin, int end, __m512i * panel) {
    const int groups = std::min(kGroups, (job.outputs - first) / 16);
    for (int depth = 0; depth < job.width; depth += kDepth) {
        const int length = std::min(kDepth, job.width - depth);
        unpack_panel(job, first, groups, depth, length, panel);
        switch (groups) {
            case 4: multiply_rows<4>(job, begin, end, first, depth, length, panel); break;
            case 3: multiply_rows<3>(job, begin, end, first, depth, length, panel); break;
            case 2: multiply_rows<2>(job, begin, end, first, depth, length, panel); break;
            default: multiply_rows<1>(job, begin, end, first, depth, length, panel); break;
        }
    }
}

// Where there are fewer panels than would keep all threads busy to the end, rows are cut too, and panels unpacked again.
void run(const MatmulJob & job, int ith, int nth, void * scratch) {
    const int panels = (job.outputs + kPanel - 1) / kPanel;
    const int wanted = (4 * nth + panels - 1) / panels;
    const int cuts = nth == 1 ? 1 : std::max(1, std::min(wanted, job.count / kRowsApart));
    const int units = panels * cuts;
    for (int u = units * ith / nth; u < units * (ith + 1) / nth; ++u) {
        const int cut = u % cuts;
        run_panel(job, u / cuts * kPanel, job.count * cut / cuts, job.count * (cut + 1) / cuts, static_cast<__m512i *>(scratch));
    }
}

}  // namespace

extern const MatmulKernel kernel;
const MatmulKernel kernel{"avx512-bf16", usable, size_t(kPanel) * kDepth * sizeof(uint16_t), run};

}  // namespace kvasir::matmul_avx512bf16
