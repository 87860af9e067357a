#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace kvasir::detail {

int32_t dot_avx512vnni(const int8_t * row, const int16_t * query, size_t n) {
    __m512i sum[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    for (size_t i = 0; i < n; i += 64) {
        for (int half = 0; half < 2; ++half) {
            const size_t at = i + 32 * half;
            const __m512i x = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(row + at)));
            sum[half] = _mm512_dpwssd_epi32(sum[half], x, _mm512_loadu_si512(query + at));
        }
    }
    return _mm512_reduce_add_epi32(_mm512_add_epi32(sum[0], sum[1]));
}

}  // namespace kvasir::detail
