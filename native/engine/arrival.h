#pragma once
// How many layers of a chunk have come, for those who wait for them.
//
// Thread safety: one thread tells, any may wait.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "error.h"

namespace kvasir {

class Arrival {
  public:
    // Layers come in order.
    void layer_came();
    // The first failure is the one that is thrown.
    void fail(const Error & error);
    // Waits for layer `il`: ABORTED once `stopped` says so, which is asked every few milliseconds, and what the arrival
    // failed with.
    void wait(int il, const std::function<bool()> & stopped);

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int layers_ = 0;
    std::optional<Error> failure_;
};

}  // namespace kvasir
