#include "arrival.h"

#include <chrono>

namespace kvasir {

namespace {
constexpr std::chrono::milliseconds kPoll(10);
}

void Arrival::layer_came() {
    {
        std::lock_guard lock(mutex_);
        ++layers_;
    }
    changed_.notify_all();
}

void Arrival::fail(const Error & error) {
    {
        std::lock_guard lock(mutex_);
        if (!failure_) failure_ = error;
    }
    changed_.notify_all();
}

void Arrival::wait(int il, const std::function<bool()> & stopped) {
    std::unique_lock lock(mutex_);
    while (layers_ <= il) {
        if (failure_) throw Error(*failure_);
        if (stopped()) throw Error("ABORTED", "The prompt was stopped.");
        changed_.wait_for(lock, kPoll);
    }
}

}  // namespace kvasir
