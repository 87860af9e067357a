#include "layer_format.h"

#include <algorithm>
#include <vector>

#include "engine/kernels/convert.h"
#include "engine/kernels/rotated.h"

namespace kvasir {

namespace {

size_t row_bytes(ggml_type type, const KvRow & row) { return ggml_row_size(type, row.size()); }

// One half of a layer, K or V, for a number of tokens.
struct Half {
    KvRow row;
    size_t tokens;
    bool four_bits;
    KvDtype plain;  // of the rows that are not in 4 bits

    size_t safe() const { return four_bits ? std::min(tokens, kSafeTokens) : tokens; }
    size_t offset(size_t token) const {
        const size_t before = std::min(token, safe());
        return before * row_bytes(dtype_ggml(plain), row) + (token - before) * row_bytes(GGML_TYPE_Q4_0, row);
    }
    size_t bytes() const { return offset(tokens); }
};

Half key_half(KvDtype dtype, const KvRow & row, size_t tokens) {
    return {row, tokens, dtype == KvDtype::q4, is_packed(dtype) ? KvDtype::q8_0 : dtype};
}
Half value_half(KvDtype dtype, const KvRow & row, size_t tokens) {
    return {row, tokens, is_packed(dtype), is_packed(dtype) ? KvDtype::q8_0 : dtype};
}

void store_half(const Half & half, uint8_t * out, size_t first, size_t n, const float * values) {
    const size_t size = size_t(half.row.size()), width = rotation_width(half.row.head_dim);
    std::vector<uint16_t> rounded(n * size);
    f32_to_f16(values, rounded.data(), n * size);
    std::vector<float> row(size);
    for (size_t t = first; t < first + n; ++t) {
        f16_to_f32(rounded.data() + (t - first) * size, row.data(), size);
        uint8_t * to = out + half.offset(t);
        if (t < half.safe()) kv_from_f32(half.plain, row.data(), to, size);
        else rotated_from_f32(row.data(), to, size, width);
    }
}

void unpack_half(const Half & half, const uint8_t * stored, uint16_t * out) {
    const size_t size = size_t(half.row.size()), safe = half.safe();
    std::vector<float> row(size);
    for (size_t t = 0; t < safe; ++t) {
        kv_to_f32(half.plain, stored + half.offset(t), row.data(), size);
        f32_to_f16(row.data(), out + t * size, size);
    }
    rotated_to_f16(stored + half.offset(safe), out + safe * size, (half.tokens - safe) * size,
                   rotation_width(half.row.head_dim));
}

}  // namespace

size_t rotation_width(uint32_t head_dim) { return std::min(size_t(head_dim & -head_dim), kMaxRotation); }

size_t layer_bytes(KvDtype dtype, const KvRow & row, size_t tokens) {
    return key_half(dtype, row, tokens).bytes() + value_half(dtype, row, tokens).bytes();
}

void store_rows(KvDtype dtype, const KvRow & row, size_t tokens, uint8_t * layer, size_t first, size_t n,
                const float * k, const float * v) {
    const Half keys = key_half(dtype, row, tokens);
    store_half(keys, layer, first, n, k);
    store_half(value_half(dtype, row, tokens), layer + keys.bytes(), first, n, v);
}

void unpack_layer(KvDtype dtype, const KvRow & row, size_t tokens, const uint8_t * layer, uint16_t * out) {
    const Half keys = key_half(dtype, row, tokens);
    unpack_half(keys, layer, out);
    unpack_half(value_half(dtype, row, tokens), layer + keys.bytes(), out + tokens * size_t(row.size()));
}

}  // namespace kvasir
