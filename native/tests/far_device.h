#pragma once
// A stand-in for a GPU, so that the engine's way through other devices is tested where there is none: a ggml device
// that computes on the processor, but whose memory nobody can touch except through ggml, and which has no custom ops.
// What is copied to it asynchronously is copied as late as a GPU may copy it: when somebody waits for that stream.
#include <chrono>
#include <functional>
#include <string>

#include "ggml.h"

namespace kvasir::test {

// Registers the device at the first call; returns its name.
std::string far_device();
// What it says of its memory: layers that do not fit stay on the processor.
void set_far_memory(size_t bytes);
// From now on, until far_device() is called again, it has only so many bytes more than are taken.
void leave_far_memory(size_t bytes);
// From now on, until far_device() is called again, it is what ggml's Vulkan backend is on Mesa's lavapipe: after a
// graph, what a stream names may be freed, so that it computes no other.
void make_far_device_llvmpipe();
// An operation that it does not have from now on; GGML_OP_NONE: it has all but custom ones.
void refuse_on_far_device(ggml_op op);

// Asynchronous copies to it.
struct FarCopies {
    size_t bytes = 0, page_locked = 0;  // the latter out of memory that the device gave for this
    int under_way = 0;                  // begun, not waited for
    int arrivals = 0;                   // times that a stream's copies were waited for
};
FarCopies far_copies();
// Bytes copied from its memory to its memory since far_device() was called.
size_t far_copies_within();
// Buffers of its memory made and freed since far_device() was called.
struct FarBuffers {
    int made = 0, freed = 0;
};
FarBuffers far_buffers();
// Waits until there were `n` arrivals, or so long; whether there were.
bool far_arrivals(int n, std::chrono::milliseconds at_most);
// Is called before each graph that it computes, until far_device() is called again.
void before_far_graphs(std::function<void()> call);

}  // namespace kvasir::test
