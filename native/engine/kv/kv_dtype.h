#pragma once
// Number formats of stored keys and values: f16, or ggml's q8_0 (an f16 scale and 32 bytes per 32 values), which takes
// 53 % of the size of f16.
//
// Thread safety: any thread may call these functions.
#include <cstdint>
#include <string>

#include "ggml.h"

namespace kvasir {

enum class KvDtype : uint32_t { f16 = 0, q8_0 = 1 };

KvDtype parse_dtype(const std::string & name);
const char * dtype_name(KvDtype dtype);
ggml_type dtype_ggml(KvDtype dtype);

}  // namespace kvasir
