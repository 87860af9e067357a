#pragma once
// The number formats that keys and values are kept in: f16, or ggml's q8_0 (for every 32 values a scale in f16 and a
// byte each), which takes 53 % of f16's room.
#include <cstdint>
#include <string>

#include "ggml.h"

namespace kvasir {

enum class KvDtype : uint32_t { f16 = 0, q8_0 = 1 };

KvDtype parse_dtype(const std::string & name);
const char * dtype_name(KvDtype dtype);
ggml_type dtype_ggml(KvDtype dtype);

}  // namespace kvasir
