#pragma once
// Whether the engine runs a model as it was meant: what stands in its file, and is not used here, is an error and never
// left out.
//
// Thread safety: any thread may call it.
#include <set>
#include <string>

#include "architecture.h"

namespace kvasir {

struct CheckedModel {
    const Architecture * arch;
    Hparams hparams;
};

// From the header and the list of tensors alone; no weights are read. MODEL_INVALID, MODEL_UNSUPPORTED: names what is
// not supported.
CheckedModel check_model(const GgufFile & file);

// For messages: some of the names, and how many more there are; and what layers call alike, "blk.3.attn_q.bias" →
// "blk.*.attn_q.bias".
std::string listed(const std::set<std::string> & names);
std::string kind_of(const std::string & tensor);

}  // namespace kvasir
