#include "numbers.h"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace kvasir {

// Infinities and NaN have every bit of the exponent set.
bool all_finite(const std::vector<float> & values) {
    constexpr uint32_t kExponent = 0x7F800000;
    uint32_t most = 0;
    for (float x : values) most = std::max(most, std::bit_cast<uint32_t>(x) & kExponent);
    return most < kExponent;
}

Error no_numbers() {
    return Error("MODEL_NUMBERS",
                 "The model computed values that are not numbers (NaN or infinity).",
                 "The file may be damaged: download it again. If it is intact, its values do not fit 16 bits: try "
                 "another version of the model.");
}

}  // namespace kvasir
