#include "rotated.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "convert.h"
#include "ggml.h"

namespace kvasir {

namespace {

constexpr size_t kBlock = 32, kBlockBytes = 18;  // of q4_0

// Multiplies runs of `width` values by the Hadamard matrix, not normalised: the steps from distance `first` on.
void transform(float * x, size_t n, size_t first, size_t width) {
    for (size_t h = first; h < width; h *= 2) {
        for (size_t i = 0; i < n; i += 2 * h) {
            for (size_t j = i; j < i + h; ++j) {
                const float a = x[j], b = x[j + h];
                x[j] = a + b, x[j + h] = a - b;
            }
        }
    }
}

float norm(size_t width) { return 1 / std::sqrt(float(width)); }

}  // namespace

void rotated_from_f32(float * values, uint8_t * blocks, size_t n, size_t width) {
    transform(values, n, 1, width);
    const float scale = norm(width);
    for (size_t i = 0; i < n; ++i) values[i] *= scale;
    ggml_get_type_traits(GGML_TYPE_Q4_0)->from_float_ref(values, blocks, int64_t(n));
}

void detail::rotated_to_f16_scalar(const uint8_t * blocks, uint16_t * dst, size_t n, size_t width) {
    const size_t run = std::max(width, kBlock);
    float x[kMaxRotation];
    for (size_t at = 0; at < n; at += run) {
        for (size_t b = 0; b < run; b += kBlock, blocks += kBlockBytes) {
            uint16_t half;
            std::memcpy(&half, blocks, sizeof half);
            for (size_t i = 0; i < kBlock / 2; ++i) {
                x[b + i] = float((blocks[2 + i] & 15) - 8);
                x[b + i + kBlock / 2] = float((blocks[2 + i] >> 4) - 8);
            }
            transform(x + b, kBlock, 1, std::min(width, kBlock));
            const float scale = ggml_fp16_to_fp32(half) * norm(width);
            for (size_t i = b; i < b + kBlock; ++i) x[i] *= scale;
        }
        transform(x, run, kBlock, width);
        f32_to_f16(x, dst + at, run);
    }
}

void rotated_to_f16(const uint8_t * blocks, uint16_t * dst, size_t n, size_t width) {
#if KVASIR_HAVE_AVX2
    if (have_avx2()) return detail::rotated_to_f16_avx2(blocks, dst, n, width);
#endif
    detail::rotated_to_f16_scalar(blocks, dst, n, width);
}

}  // namespace kvasir
