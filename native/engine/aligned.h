#pragma once
// Thread safety: any thread may call this function.
#include <cstdint>

namespace kvasir {

// Rounds `p` up to the next multiple of 64 bytes, at most 63 bytes further; the result points into the same buffer.
template <typename T> T * align_64(T * p) {
    return reinterpret_cast<T *>((reinterpret_cast<uintptr_t>(p) + 63) / 64 * 64);
}

}  // namespace kvasir
