#pragma once
// How a chunk stores one layer: the rows of K for all tokens, then those of V (docs/formats/chunk-kv.md). In f16 and
// q8_0 they can be placed as they are. Packed formats keep the first kSafeTokens rows of a 4-bit half in q8_0; the
// other rows are rotated by a Hadamard matrix within each head, which spreads outliers, and rounded to ggml's q4_0.
// Unpacking gives f16 rows.
//
// Thread safety: any thread may call these functions.
#include <cstddef>
#include <cstdint>

#include "engine/kv/kv_dtype.h"

namespace kvasir {

// Size of the keys, or values, of one token in one layer.
struct KvRow {
    uint32_t n_head_kv = 0, head_dim = 0;

    bool operator==(const KvRow &) const = default;
    int64_t size() const { return int64_t(n_head_kv) * head_dim; }
};

// Rows at the beginning of a chunk that packed formats keep in q8_0.
constexpr size_t kSafeTokens = 32;

// Number of consecutive values that one Hadamard matrix rotates: the largest power of two that divides the head size.
size_t rotation_width(uint32_t head_dim);

size_t layer_bytes(KvDtype dtype, const KvRow & row, size_t tokens);
// Stores rows [first, first + n) of a layer of `tokens` tokens from f32 [row, n]. Every format rounds to f16 first, so
// that converting an f16 chunk gives the same bytes as encoding it again.
void store_rows(KvDtype dtype, const KvRow & row, size_t tokens, uint8_t * layer, size_t first, size_t n,
                const float * k, const float * v);
// A layer in a packed format → f16 [row, 2 · tokens], K then V.
void unpack_layer(KvDtype dtype, const KvRow & row, size_t tokens, const uint8_t * layer, uint16_t * out);

}  // namespace kvasir
