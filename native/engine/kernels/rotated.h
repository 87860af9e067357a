#pragma once
// Rows in 4 bits: each run of `width` values (a power of two) is multiplied by the normalised Hadamard matrix of that
// size, which is its own inverse, and rounded to ggml's q4_0 (an f16 scale and 16 bytes per 32 values).
//
// Thread safety: any thread may call these functions.
#include <cstddef>
#include <cstdint>

namespace kvasir {

constexpr size_t kMaxRotation = 512;

// Rotates `values` in place and stores them; `n` is a multiple of 32 and of `width`.
void rotated_from_f32(float * values, uint8_t * blocks, size_t n, size_t width);
// Blocks → f16 values, rotated back. All versions give the same bits: sums within a block are of whole numbers.
void rotated_to_f16(const uint8_t * blocks, uint16_t * dst, size_t n, size_t width);

namespace detail {
void rotated_to_f16_scalar(const uint8_t * blocks, uint16_t * dst, size_t n, size_t width);
void rotated_to_f16_avx2(const uint8_t * blocks, uint16_t * dst, size_t n, size_t width);
}  // namespace detail

}  // namespace kvasir
