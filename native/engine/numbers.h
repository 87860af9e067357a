#pragma once
// Checks for NaN and infinity in results of a model.
//
// Thread safety: any thread may call these functions.
#include <vector>

#include "error.h"

namespace kvasir {

// Whether none is NaN or infinite.
bool all_finite(const std::vector<float> & values);

// The MODEL_NUMBERS error.
Error no_numbers();

}  // namespace kvasir
