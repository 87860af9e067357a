#pragma once
// Mixture of experts: a router chooses, for each token, a few of many small feed-forwards.
//
// Thread safety: a graph belongs to the thread that builds it.
#include "architecture.h"

namespace kvasir {

// x [n_embd, rows] → [n_embd, rows]. The router sees `seen` [n_embd, rows], usually x.
ggml_tensor * feed_to_experts(const LayerArgs & l, ggml_tensor * x, ggml_tensor * seen);

}  // namespace kvasir
