#pragma once
// A stand-in for a GPU, so that the engine's way through other devices is tested where there is none: a ggml device that
// computes on the processor, but whose memory nobody can touch except through ggml, and which has no custom ops.
#include <string>

#include "ggml.h"

namespace kvasir::test {

// Registers the device at the first call; returns its name.
std::string far_device();
// What it says of its memory: layers that do not fit stay on the processor.
void set_far_memory(size_t bytes);
// An operation that it does not have from now on; GGML_OP_NONE: it has all but custom ones.
void refuse_on_far_device(ggml_op op);

}  // namespace kvasir::test
