#pragma once
// Mixture of experts: a router chooses, for each token, the few of many small feed-forwards that it goes through.
//
// Thread safety: a graph belongs to the thread that builds it.
#include "architecture.h"

namespace kvasir {

// x [n_embd, rows] → [n_embd, rows]. The router chooses by `seen` [n_embd, rows], mostly x itself.
ggml_tensor * feed_to_experts(const LayerArgs & l, ggml_tensor * x, ggml_tensor * seen);

}  // namespace kvasir
