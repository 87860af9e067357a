#include "kv_dtype.h"

#include <iterator>

#include "engine/error.h"

namespace kvasir {

namespace {
constexpr const char * kNames[] = {"f16", "q8_0", "k8v4", "q4"};
}

KvDtype parse_dtype(const std::string & name) {
    for (uint32_t i = 0; i < std::size(kNames); ++i)
        if (name == kNames[i]) return KvDtype(i);
    throw Error("BAD_ARGUMENT", "\"" + name + "\" is not a supported KV dtype.", "Use f16, q8_0, k8v4 or q4.");
}

const char * dtype_name(KvDtype dtype) { return kNames[uint32_t(dtype)]; }
ggml_type dtype_ggml(KvDtype dtype) { return placed_dtype(dtype) == KvDtype::f16 ? GGML_TYPE_F16 : GGML_TYPE_Q8_0; }

}  // namespace kvasir
