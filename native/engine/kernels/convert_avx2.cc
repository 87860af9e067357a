#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace kvasir::detail {

void f32_to_f16_avx2(const float * src, uint16_t * dst, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(src + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        _mm_storeu_si128(reinterpret_cast<__m128i *>(dst + i), half);
    }
    for (; i < n; ++i) dst[i] = uint16_t(_cvtss_sh(src[i], _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

void f16_to_f32_avx2(const uint16_t * src, float * dst, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(dst + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(src + i))));
    }
    for (; i < n; ++i) dst[i] = _cvtsh_ss(src[i]);
}

// A block's scale is its largest value / 127; values are rounded to the nearest, ties to even.
void f32_to_q8_0_avx2(const float * src, uint8_t * dst, size_t n) {
    const __m256 size = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);  // packing works on 128-bit halves
    for (size_t i = 0; i < n; i += 32, dst += 34) {
        __m256 x[4], top = _mm256_setzero_ps();
        for (int j = 0; j < 4; ++j) {
            x[j] = _mm256_loadu_ps(src + i + 8 * j), top = _mm256_max_ps(top, _mm256_and_ps(x[j], size));
        }
        __m128 most = _mm_max_ps(_mm256_castps256_ps128(top), _mm256_extractf128_ps(top, 1));
        most = _mm_max_ps(most, _mm_movehl_ps(most, most));
        most = _mm_max_ss(most, _mm_movehdup_ps(most));
        const float scale = _mm_cvtss_f32(most) / 127;
        const uint16_t half = uint16_t(_cvtss_sh(scale, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
        const __m256 inverse = _mm256_set1_ps(scale > 0 ? 1 / scale : 0);
        __m256i whole[4];
        for (int j = 0; j < 4; ++j) whole[j] = _mm256_cvtps_epi32(_mm256_mul_ps(x[j], inverse));
        const __m256i bytes =
            _mm256_packs_epi16(_mm256_packs_epi32(whole[0], whole[1]), _mm256_packs_epi32(whole[2], whole[3]));
        __builtin_memcpy(dst, &half, sizeof half);
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(dst + 2), _mm256_permutevar8x32_epi32(bytes, order));
    }
}

// Products are rounded before they are added, as in the portable version, so that both give the same bits.
static void rotate_neighbours(float * head, int n_rot, const float * row) {
    for (int i = 0; i < n_rot; i += 8) {
        const __m256 x = _mm256_loadu_ps(head + i), turn = _mm256_loadu_ps(row + i);
        const __m256 same = _mm256_mul_ps(x, _mm256_moveldup_ps(turn));
        const __m256 other = _mm256_mul_ps(_mm256_permute_ps(x, 0xB1), _mm256_movehdup_ps(turn));
        _mm256_storeu_ps(head + i, _mm256_addsub_ps(same, other));
    }
}

static void rotate_halves(float * head, int n_rot, const float * row) {
    const int half = n_rot / 2;
    for (int i = 0; i < half; i += 8) {
        // c0 s0 c1 s1 … → c0 c1 …, s0 s1 …
        const __m256 first = _mm256_loadu_ps(row + 2 * i), second = _mm256_loadu_ps(row + 2 * i + 8);
        const __m256 low = _mm256_permute2f128_ps(first, second, 0x20),
                     high = _mm256_permute2f128_ps(first, second, 0x31);
        const __m256 c = _mm256_shuffle_ps(low, high, 0x88), s = _mm256_shuffle_ps(low, high, 0xDD);
        const __m256 a = _mm256_loadu_ps(head + i), b = _mm256_loadu_ps(head + half + i);
        _mm256_storeu_ps(head + i, _mm256_sub_ps(_mm256_mul_ps(a, c), _mm256_mul_ps(b, s)));
        _mm256_storeu_ps(head + half + i, _mm256_add_ps(_mm256_mul_ps(a, s), _mm256_mul_ps(b, c)));
    }
}

void rotate_heads_avx2(float * keys, int heads, int head_dim, int n_rot, bool neox, const float * row) {
    for (int h = 0; h < heads; ++h, keys += head_dim) (neox ? rotate_halves : rotate_neighbours)(keys, n_rot, row);
}

}  // namespace kvasir::detail
