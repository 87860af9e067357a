#pragma once
// Counts the layers of a chunk that have arrived, and lets other threads wait for them.
//
// Thread safety: one thread reports, any thread may wait.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "engine/error.h"

namespace kvasir {

class Arrival {
  public:
    // Layers arrive in order.
    void layer_came();
    // Keeps the first failure; wait() throws it.
    void fail(const Error & error);
    // Waits for layer `il`. Throws ABORTED once `stopped`, polled every few milliseconds, returns true, or the error
    // that the arrival failed with.
    void wait(int il, const std::function<bool()> & stopped);

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int layers_ = 0;
    std::optional<Error> failure_;
};

}  // namespace kvasir
