#pragma once
// Thread safety: any thread may call this function.
#include <chrono>

namespace kvasir {

using Clock = std::chrono::steady_clock;

inline double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace kvasir
