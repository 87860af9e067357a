#pragma once
// Conversions between stored and computed KV, and the rotation (RoPE) that places a key. The first call selects the
// widest version that the CPU supports.
//
// Thread safety: any thread may call these functions.
#include <cstddef>
#include <cstdint>

#include "engine/graph/rope.h"
#include "engine/kv/kv_dtype.h"

namespace kvasir {

// f32 ↔ f16 (round to nearest even).
void f32_to_f16(const float * src, uint16_t * dst, size_t n);
void f16_to_f32(const uint16_t * src, float * dst, size_t n);

// Keys or values in a format that can be placed, f16 or q8_0, ↔ f32; `n` values, for q8_0 a multiple of 32.
void kv_to_f32(KvDtype dtype, const void * src, float * dst, size_t n);
void kv_from_f32(KvDtype dtype, const float * src, void * dst, size_t n);

// Rotates `heads` keys of `head_dim` values in place by one row of a RopeTable. f32 throughout.
void rotate_heads(float * keys, int heads, int head_dim, const RopeParams & rope, const float * row);

// Whether the CPU supports AVX2 and F16C, and this build has the code for them.
bool have_avx2();

namespace detail {
void f32_to_f16_avx2(const float * src, uint16_t * dst, size_t n);
void f16_to_f32_avx2(const uint16_t * src, float * dst, size_t n);
void f32_to_q8_0_avx2(const float * src, uint8_t * dst, size_t n);
// `n_rot` must be a multiple of 16.
void rotate_heads_avx2(float * keys, int heads, int head_dim, int n_rot, bool neox, const float * row);
}  // namespace detail

}  // namespace kvasir
