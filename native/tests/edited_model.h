#pragma once
// Modified model files, as written by other programs or damaged on disk.
#include <functional>
#include <memory>
#include <string>

#include "engine/devices/backend.h"
#include "gguf.h"

namespace kvasir::test {

// Copies the file at `path` to scratch file `name` after `edit` has changed its header and tensors (all in memory, in
// the context). Returns the copy's path.
std::string edited_model(const std::string & path, const std::string & name,
                         const std::function<void(gguf_context *, ggml_context *)> & edit);

// Adds a tensor of f32 zeros, [n], for edited_model().
void add_tensor(gguf_context * header, ggml_context * tensors, const char * name, int64_t n);

}  // namespace kvasir::test
