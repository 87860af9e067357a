#pragma once
// Chooses the engine for a file: ours, which blends, or libllama, which runs every other architecture it knows; or
// states why neither can run it. Uses only the header and the list of tensors.
//
// Thread safety: any thread may call these functions.
#include <optional>
#include <string>

#include "engine/gguf/model_check.h"

namespace kvasir {

enum class EngineKind { blending, llama, none };
const char * engine_name(EngineKind kind);

struct EngineChoice {
    EngineKind kind = EngineKind::none;
    std::optional<CheckedModel> checked;  // set if our engine runs it
    // If libllama runs it, why passages cannot be blended: running-state, compressed-kv or architecture.
    std::string obstacle;
    std::string refusal;  // if neither runs it: one sentence
};

// MODEL_INVALID if the header is impossible.
EngineChoice choose_engine(const GgufFile & file);

// Whether libllama knows this architecture. Asks libllama with a header that contains nothing else.
bool llama_knows(const std::string & architecture);

}  // namespace kvasir
