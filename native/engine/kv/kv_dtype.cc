#include "kv_dtype.h"

#include "engine/error.h"

namespace kvasir {

KvDtype parse_dtype(const std::string & name) {
    if (name == "f16") return KvDtype::f16;
    if (name == "q8_0") return KvDtype::q8_0;
    throw Error("BAD_ARGUMENT", "\"" + name + "\" is not a supported KV dtype.", "Use f16 or q8_0.");
}

const char * dtype_name(KvDtype dtype) { return dtype == KvDtype::f16 ? "f16" : "q8_0"; }
ggml_type dtype_ggml(KvDtype dtype) { return dtype == KvDtype::f16 ? GGML_TYPE_F16 : GGML_TYPE_Q8_0; }

}  // namespace kvasir
