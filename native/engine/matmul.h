#pragma once
// Products with weights, the one place that decides how they are computed.
//
// Thread safety: a graph belongs to the thread that builds it, and runs on a device's threads.
#include "backend.h"

namespace kvasir {

// weights [width, outputs] times x f32 [width, rows] → f32 [outputs, rows]. A kernel of ours for several rows and a
// matrix in plain host memory, ggml for everything else.
ggml_tensor * matmul(ggml_context * c, ggml_tensor * weights, ggml_tensor * x);

}  // namespace kvasir
