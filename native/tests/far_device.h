#pragma once
// A simulated GPU, to test the engine's paths for other devices on machines without one: a ggml device that computes on
// the processor, but whose memory is accessible only through ggml, and which has no custom ops. Asynchronous copies
// happen as late as a GPU may do them: when somebody waits for the stream.
#include <chrono>
#include <functional>
#include <string>

#include "ggml.h"

namespace kvasir::test {

// Registers the device on the first call; returns its name.
std::string far_device();
// Sets the memory size it reports: layers that do not fit stay on the processor.
void set_far_memory(size_t bytes);
// Until far_device() is called again, only `bytes` more than the current use can be allocated.
void leave_far_memory(size_t bytes);
// Until far_device() is called again, it acts like ggml's Vulkan backend on Mesa's lavapipe: after a graph, memory that
// a stream names may be freed, so the stream refuses another graph.
void make_far_device_llvmpipe();
// Makes an operation unsupported from now on; GGML_OP_NONE: all but custom ones are supported.
void refuse_on_far_device(ggml_op op);

// Asynchronous copies to the device.
struct FarCopies {
    size_t bytes = 0, page_locked = 0;  // the latter from the device's host memory
    int under_way = 0;                  // started, not yet waited for
    int arrivals = 0;                   // number of waits for a stream's copies
};
FarCopies far_copies();
// Bytes copied within its memory since far_device() was called.
size_t far_copies_within();
// Buffers allocated and freed since far_device() was called.
struct FarBuffers {
    int made = 0, freed = 0;
};
FarBuffers far_buffers();
// Waits until there were `n` arrivals, for at most `at_most`; returns whether there were.
bool far_arrivals(int n, std::chrono::milliseconds at_most);
// Sets a function to call before each graph that it computes, until far_device() is called again.
void before_far_graphs(std::function<void()> call);

}  // namespace kvasir::test
