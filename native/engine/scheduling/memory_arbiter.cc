#include "memory_arbiter.h"

#include <algorithm>
#include <utility>

#include "engine/abort.h"
#include "engine/error.h"
#include "scheduler.h"

namespace kvasir {

bool MemoryArbiter::wait_for_others(const std::atomic<bool> * abort) {
    Turn * turn = scheduler_.mine();
    if (!turn) return false;
    std::unique_lock lock(scheduler_.mutex_);
    // Turns that may not begin before this one ends cannot free anything that it could wait for.
    const auto & waiting = scheduler_.waiting_;
    const auto behind = std::count_if(waiting.begin(), waiting.end(),
                                      [&](const Turn * t) { return scheduler_.alone_ == turn && t->alone_; });
    if (scheduler_.turns_ - int(blocked_.size()) - int(behind) <= 1) {
        // Nobody is running. The turn that waited longest continues, within the free memory or beyond it.
        const auto first = std::find_if(blocked_.begin(), blocked_.end(),
                                        [&](const Turn * t) { return t->wants_memory_before(*turn); });
        if (first == blocked_.end()) return false;
        scheduler_.ready(**first);
        blocked_.erase(first);
    }
    turn->wants_memory_ = true;
    blocked_.push_back(turn);
    scheduler_.hand_over();
    scheduler_.wait(lock, *turn, abort);
    if (is_aborted(abort)) throw Error("ABORTED", "The computation was stopped.");
    return true;
}

bool MemoryArbiter::is_spoken_for() const {
    const Turn * turn = scheduler_.mine();
    if (!turn) return false;
    std::lock_guard lock(scheduler_.mutex_);
    const auto & waiting = scheduler_.waiting_;
    const auto earlier = [&](const Turn * t) { return t->wants_memory_before(*turn); };
    return std::any_of(waiting.begin(), waiting.end(), earlier) ||
           std::any_of(blocked_.begin(), blocked_.end(), earlier);
}

void MemoryArbiter::has_memory() {
    Turn * turn = scheduler_.mine();
    if (!turn) return;
    std::lock_guard lock(scheduler_.mutex_);
    // The remainder may suffice for those that were bypassed.
    if (std::exchange(turn->wants_memory_, false)) wake_blocked();
}

void MemoryArbiter::may_give_back(std::function<void()> give_back) {
    Turn * turn = scheduler_.mine();
    if (!turn) return;
    std::lock_guard lock(scheduler_.mutex_);
    answers_.push_back({turn, std::move(give_back)});
    const auto more_urgent = [&](const Turn * t) { return t->priority_ < turn->priority_; };
    if (std::any_of(blocked_.begin(), blocked_.end(), more_urgent)) wake_blocked();
}

bool MemoryArbiter::take_back() {
    return take_back_if([&](const Turn & from) {
        // Keeps its memory if nobody else could use it.
        return &from != scheduler_.mine() || scheduler_.turns_ - int(blocked_.size()) > 1;
    });
}

bool MemoryArbiter::take_back_from_less_urgent() {
    const Turn * turn = scheduler_.mine();
    return take_back_if([&](const Turn & from) { return turn && from.priority_ > turn->priority_; });
}

template <class May> bool MemoryArbiter::take_back_if(May may) {
    std::unique_lock lock(scheduler_.mutex_);
    auto last = answers_.end();
    for (auto a = answers_.begin(); a != answers_.end(); ++a)
        if (last == answers_.end() || a->turn->priority_ >= last->turn->priority_) last = a;
    if (last == answers_.end() || !may(*last->turn)) return false;
    const auto [turn, give_back] = *last;
    forget_answer(*turn);
    ++taken_back_;
    scheduler_.batch_.interrupt(*turn);
    lock.unlock();
    give_back();
    return true;
}

void MemoryArbiter::wake_blocked() {
    for (Turn * turn : std::exchange(blocked_, {})) scheduler_.ready(*turn);
}

void MemoryArbiter::forget_answer(const Turn & turn) {
    std::erase_if(answers_, [&](const Answer & answer) { return answer.turn == &turn; });
}

}  // namespace kvasir
