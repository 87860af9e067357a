#pragma once
// Number formats of stored keys and values (docs/formats/chunk-kv.md): f16; ggml's q8_0 (an f16 scale and 32 bytes per
// 32 values, 53 % of the size of f16); and two packed formats, of chunks only, which are unpacked to f16 before they
// are placed: k8v4 (keys in q8_0, values in 4 bits) and q4 (both in 4 bits).
//
// Thread safety: any thread may call these functions.
#include <cstdint>
#include <string>

#include "ggml.h"

namespace kvasir {

enum class KvDtype : uint32_t { f16 = 0, q8_0 = 1, k8v4 = 2, q4 = 3 };

KvDtype parse_dtype(const std::string & name);  // BAD_ARGUMENT
const char * dtype_name(KvDtype dtype);
inline bool is_packed(KvDtype dtype) { return dtype > KvDtype::q8_0; }
// The format of the rows that are placed into a session: f16 or q8_0.
inline KvDtype placed_dtype(KvDtype dtype) { return is_packed(dtype) ? KvDtype::f16 : dtype; }
// The same as a type of ggml.
ggml_type dtype_ggml(KvDtype dtype);

}  // namespace kvasir
