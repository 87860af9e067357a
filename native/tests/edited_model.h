#pragma once
// Model files with something changed: what other programs write, and what a damaged disk does.
#include <functional>
#include <memory>
#include <string>

#include "engine/backend.h"
#include "gguf.h"

namespace kvasir::test {

// The file at `path` once `edit` has changed its header and tensors (all in memory, in the context), as scratch `name`.
std::string edited_model(const std::string & path, const std::string & name,
                         const std::function<void(gguf_context *, ggml_context *)> & edit);

// A tensor of f32 zeros of this name, [n], for edited_model().
void add_tensor(gguf_context * header, ggml_context * tensors, const char * name, int64_t n);

}  // namespace kvasir::test
