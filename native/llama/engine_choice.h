#pragma once
// Which engine runs a file: ours, which blends, or libllama, which runs every other architecture it knows; and why
// neither does. Decided from the header and the list of tensors alone.
//
// Thread safety: any thread may call these functions.
#include <optional>
#include <string>

#include "engine/model_check.h"

namespace kvasir {

enum class EngineKind { blending, llama, none };
const char * engine_name(EngineKind kind);

struct EngineChoice {
    EngineKind kind = EngineKind::none;
    std::optional<CheckedModel> checked;  // where ours runs it
    // Where libllama does, why passages cannot be blended: running-state, compressed-kv or architecture.
    std::string obstacle;
    std::string refusal;  // where neither does: one sentence
};

// MODEL_INVALID: what the header says is not possible.
EngineChoice choose_engine(const GgufFile & file);

// Whether libllama knows an architecture of this name. Asked of libllama itself, with a header that says nothing else.
bool llama_knows(const std::string & architecture);

}  // namespace kvasir
