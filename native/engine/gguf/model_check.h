#pragma once
// Checks that the engine runs a model as intended: anything in its file that the engine does not use is an error rather
// than ignored.
//
// Thread safety: any thread may call it.
#include <set>
#include <string>

#include "engine/graph/architecture.h"

namespace kvasir {

struct CheckedModel {
    const Architecture * arch;
    Hparams hparams;
};

// Uses only the header and the list of tensors; reads no weights. MODEL_INVALID, MODEL_UNSUPPORTED, naming the
// unsupported parts.
CheckedModel check_model(const GgufFile & file);

// For messages: some of the names and the number of further ones; and the common form of a layer's tensor name,
// "blk.3.attn_q.bias" → "blk.*.attn_q.bias".
std::string listed(const std::set<std::string> & names);
std::string kind_of(const std::string & tensor);

}  // namespace kvasir
