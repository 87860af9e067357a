#include "convert.h"

#include "ggml.h"

namespace kvasir {

bool have_avx2() {
#if !KVASIR_HAVE_AVX2 || defined(_MSC_VER)
    return false;  // MSVC has no portable query; the scalar path is only slower
#else
    static const bool yes = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
    return yes;
#endif
}

void f32_to_f16(const float * src, uint16_t * dst, size_t n) {
#if KVASIR_HAVE_AVX2
    if (have_avx2()) return detail::f32_to_f16_avx2(src, dst, n);
#endif
    ggml_fp32_to_fp16_row(src, dst, int64_t(n));
}

void f16_to_f32(const uint16_t * src, float * dst, size_t n) {
#if KVASIR_HAVE_AVX2
    if (have_avx2()) return detail::f16_to_f32_avx2(src, dst, n);
#endif
    ggml_fp16_to_fp32_row(src, dst, int64_t(n));
}

void kv_to_f32(KvDtype dtype, const void * src, float * dst, size_t n) {
    if (dtype == KvDtype::f16) f16_to_f32(static_cast<const uint16_t *>(src), dst, n);
    else ggml_get_type_traits(GGML_TYPE_Q8_0)->to_float(src, dst, int64_t(n));
}

void kv_from_f32(KvDtype dtype, const float * src, void * dst, size_t n) {
    if (dtype == KvDtype::f16) return f32_to_f16(src, static_cast<uint16_t *>(dst), n);
#if KVASIR_HAVE_AVX2
    if (have_avx2()) return detail::f32_to_q8_0_avx2(src, static_cast<uint8_t *>(dst), n);
#endif
    ggml_get_type_traits(GGML_TYPE_Q8_0)->from_float_ref(src, dst, int64_t(n));
}

void rotate_heads(float * keys, int heads, int head_dim, const RopeParams & rope, const float * row) {
#if KVASIR_HAVE_AVX2
    if (have_avx2() && rope.n_rot % 16 == 0) {
        return detail::rotate_heads_avx2(keys, heads, head_dim, rope.n_rot, rope.mode == GGML_ROPE_TYPE_NEOX, row);
    }
#endif
    const int half = rope.n_rot / 2;
    const bool neox = rope.mode == GGML_ROPE_TYPE_NEOX;
    const int step = neox ? 1 : 2, gap = neox ? half : 1;
    for (int h = 0; h < heads; ++h, keys += head_dim) {
        for (int i = 0; i < half; ++i) {
            float & a = keys[i * step];
            float & b = keys[i * step + gap];
            const float c = row[2 * i], s = row[2 * i + 1], a0 = a, b0 = b;
            a = a0 * c - b0 * s;
            b = a0 * s + b0 * c;
        }
    }
}

}  // namespace kvasir
