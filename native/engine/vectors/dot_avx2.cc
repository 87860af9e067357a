#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace kvasir::detail {

int32_t dot_avx2(const int8_t * row, const int16_t * query, size_t n) {
    __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (size_t i = 0; i < n; i += 32) {
        for (int half = 0; half < 2; ++half) {
            const size_t at = i + 16 * half;
            const __m256i x = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i *>(row + at)));
            const __m256i y = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(query + at));
            sum[half] = _mm256_add_epi32(sum[half], _mm256_madd_epi16(x, y));
        }
    }
    const __m256i both = _mm256_add_epi32(sum[0], sum[1]);
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(both), _mm256_extracti128_si256(both, 1));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xB1));
    return _mm_cvtsi128_si32(four);
}

}  // namespace kvasir::detail
