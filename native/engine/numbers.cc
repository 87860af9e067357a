#include "numbers.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace kvasir {

// Those that are none have every bit of the exponent set.
bool all_finite(const std::vector<float> & values) {
    constexpr uint32_t kExponent = 0x7F800000;
    uint32_t most = 0;
    for (float x : values) most = std::max(most, std::bit_cast<uint32_t>(x) & kExponent);
    return most < kExponent;
}

Error no_numbers() {
    return Error("MODEL_NUMBERS",
                 "The model computed values that are not numbers, so there is nothing to go on with.",
                 "Its file may be damaged: fetch it again. If it is sound, its numbers are too large for 16 bits: try "
                 "another version of the model.");
}

}  // namespace kvasir
