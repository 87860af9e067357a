#pragma once
#include <cstdint>

namespace kvasir {

// What `p` points into, from the next multiple of 64 bytes on: up to 63 bytes further.
template <typename T> T * align_64(T * p) {
    return reinterpret_cast<T *>((reinterpret_cast<uintptr_t>(p) + 63) / 64 * 64);
}

}  // namespace kvasir
