#pragma once
// What a header says in numbers, for a family that only libllama knows.
//
// Thread safety: any thread may call these functions.
#include "engine/gguf_file.h"

namespace kvasir {

// libllama trusts a header, and ends the process by what no model has: every number that it may compute with or reserve
// memory by is within what a model can have. MODEL_INVALID.
void check_header_numbers(const GgufFile & file, const std::string & arch);

// What a session takes of memory, as far as header and tensors tell.
struct SessionMemory {
    double values_per_token = 0;  // of keys and values, over all layers
    double state_values = 0;      // of a running state, whatever the length
};
SessionMemory session_memory(const GgufFile & file, const std::string & arch);

}  // namespace kvasir
