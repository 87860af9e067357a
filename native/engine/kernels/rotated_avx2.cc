#include <immintrin.h>

#include "rotated.h"

namespace kvasir::detail {

namespace {

// x[i] ± x[i ^ h] within 128-bit lanes of 16-bit numbers: `order` moves each to its partner, `sign` is −1 in the upper
// one of a pair.
__m256i step(__m256i x, __m128i order, __m128i sign) {
    const __m256i partner = _mm256_shuffle_epi8(x, _mm256_broadcastsi128_si256(order));
    return _mm256_add_epi16(partner, _mm256_sign_epi16(x, _mm256_broadcastsi128_si256(sign)));
}

// One block of q4_0 → 32 f32, the steps at distances below min(width, 32) done in whole numbers, which cannot overflow:
// sums of 32 numbers of at most 8.
void block_to_f32(const uint8_t * block, float * out, size_t width, float norm) {
    const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i *>(block + 2)), low = _mm_set1_epi8(15);
    const __m256i eight = _mm256_set1_epi16(8);
    __m256i a = _mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_and_si128(packed, low)), eight);
    __m256i b = _mm256_sub_epi16(_mm256_cvtepu8_epi16(_mm_and_si128(_mm_srli_epi16(packed, 4), low)), eight);
    const auto both = [&](__m128i order, __m128i sign) { a = step(a, order, sign), b = step(b, order, sign); };
    if (width > 1) {
        both(_mm_setr_epi8(2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13),
             _mm_setr_epi16(1, -1, 1, -1, 1, -1, 1, -1));
    }
    if (width > 2) {
        both(_mm_setr_epi8(4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11),
             _mm_setr_epi16(1, 1, -1, -1, 1, 1, -1, -1));
    }
    if (width > 4) {
        both(_mm_setr_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7),
             _mm_setr_epi16(1, 1, 1, 1, -1, -1, -1, -1));
    }
    if (width > 8) {
        const __m256i upper = _mm256_setr_epi16(1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1);
        a = _mm256_add_epi16(_mm256_permute2x128_si256(a, a, 1), _mm256_sign_epi16(a, upper));
        b = _mm256_add_epi16(_mm256_permute2x128_si256(b, b, 1), _mm256_sign_epi16(b, upper));
    }
    if (width > 16) {
        const __m256i sum = _mm256_add_epi16(a, b);
        b = _mm256_sub_epi16(a, b), a = sum;
    }
    uint16_t half;
    __builtin_memcpy(&half, block, sizeof half);
    const __m256 scale = _mm256_set1_ps(_cvtsh_ss(half) * norm);
    const auto put = [&](int at, __m128i x) {
        _mm256_storeu_ps(out + at, _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(x)), scale));
    };
    put(0, _mm256_castsi256_si128(a)), put(8, _mm256_extracti128_si256(a, 1));
    put(16, _mm256_castsi256_si128(b)), put(24, _mm256_extracti128_si256(b, 1));
}

}  // namespace

void rotated_to_f16_avx2(const uint8_t * blocks, uint16_t * dst, size_t n, size_t width) {
    const size_t run = width > 32 ? width : 32;
    const float norm = 1 / __builtin_sqrtf(float(width));
    alignas(32) float x[kMaxRotation];
    for (size_t at = 0; at < n; at += run) {
        for (size_t b = 0; b < run; b += 32, blocks += 18) block_to_f32(blocks, x + b, width, norm);
        for (size_t h = 32; h < width; h *= 2) {
            for (size_t i = 0; i < run; i += 2 * h) {
                for (size_t j = i; j < i + h; j += 8) {
                    const __m256 a = _mm256_load_ps(x + j), b = _mm256_load_ps(x + j + h);
                    _mm256_store_ps(x + j, _mm256_add_ps(a, b)), _mm256_store_ps(x + j + h, _mm256_sub_ps(a, b));
                }
            }
        }
        for (size_t i = 0; i < run; i += 8) {
            const __m128i half = _mm256_cvtps_ph(_mm256_load_ps(x + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
            _mm_storeu_si128(reinterpret_cast<__m128i *>(dst + at + i), half);
        }
    }
}

}  // namespace kvasir::detail
