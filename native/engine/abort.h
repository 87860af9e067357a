#pragma once
// Whether a computation is to end before it is done. Any thread may call these.
#include <atomic>

namespace kvasir {

inline std::atomic<bool> passes_end{false};

// Ends every computation, with ABORTED, and lets no other begin: the process ends.
inline void end_passes() { passes_end.store(true); }

// Asked for by its own flag, if it has one, or by end_passes().
inline bool is_aborted(const std::atomic<bool> * abort) {
    return passes_end.load(std::memory_order_relaxed) || (abort && abort->load(std::memory_order_relaxed));
}

}  // namespace kvasir
