#pragma once
// Checks numbers in the headers of families that only libllama runs.
//
// Thread safety: any thread may call these functions.
#include "engine/gguf/gguf_file.h"

namespace kvasir {

// libllama trusts a header and aborts the process on implausible values, so every number that it may compute with or
// reserve memory by is checked. MODEL_INVALID.
void check_header_numbers(const GgufFile & file, const std::string & arch);

// Memory of a session, as far as header and tensors reveal it.
struct SessionMemory {
    double values_per_token = 0;  // of keys and values, over all layers
    double state_values = 0;      // running state, independent of the length
};
SessionMemory session_memory(const GgufFile & file, const std::string & arch);

}  // namespace kvasir
