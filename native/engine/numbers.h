#pragma once
// What a model computed, held against what a number is.
//
// Thread safety: any thread may call these functions.
#include <vector>

#include "error.h"

namespace kvasir {

// Neither NaN nor infinite.
bool all_finite(const std::vector<float> & values);

// MODEL_NUMBERS.
Error no_numbers();

}  // namespace kvasir
