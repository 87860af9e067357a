#include "scheduler.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "engine/abort.h"
#include "engine/clock.h"

namespace kvasir {

namespace {
// This thread's innermost turn over all models; usually one turn, or none.
thread_local Turn * innermost = nullptr;
constexpr double kSlack = 2;
constexpr std::chrono::milliseconds kPoll(20);  // how often a waiting turn checks for an abort
}

Turn::Turn(Scheduler & scheduler, const Request & request)
    : scheduler_(scheduler),
      outer_(innermost),
      abort_(request.abort),
      is_short_(request.is_short),
      alone_(request.alone),
      priority_(request.priority) {
    std::unique_lock lock(scheduler.mutex_);
    deadline_ = scheduler.computed_rows_ + kSlack * request.rows;
    number_ = scheduler.came_++;
    ++scheduler.turns_;
    scheduler.ready(*this);
    scheduler.wait(lock, *this, abort_);
    innermost = this;
}

Turn::~Turn() {
    innermost = outer_;
    std::lock_guard lock(scheduler_.mutex_);
    if (scheduler_.alone_ == this) scheduler_.alone_ = nullptr;
    --scheduler_.turns_;
    scheduler_.memory_.forget_answer(*this);
    scheduler_.memory_.wake_blocked();
    scheduler_.hand_over();
}

bool Turn::goes_before(const Turn & other) const {
    if (is_short_ != other.is_short_) return is_short_;
    if (is_short_) return false;  // in arrival order
    if (priority_ != other.priority_) return priority_ < other.priority_;
    return deadline_ != other.deadline_ ? deadline_ < other.deadline_ : number_ < other.number_;
}

bool Turn::wants_memory_before(const Turn & other) const {
    return wants_memory_ && number_ < other.number_ && priority_ <= other.priority_;
}

Turn * Scheduler::mine() const {
    for (Turn * turn = innermost; turn; turn = turn->outer_)
        if (&turn->scheduler_ == this) return turn;
    return nullptr;
}

Turn * Scheduler::best_waiting() const {
    Turn * best = nullptr;
    for (Turn * turn : waiting_) {
        const bool may = !turn->alone_ || !alone_ || alone_ == turn;
        if (may && (!best || turn->goes_before(*best))) best = turn;
    }
    return best;
}

void Scheduler::hand_over() {
    Turn * next = best_waiting();
    if (batch_.is_due(next)) next = batch_.take_leader();
    else std::erase(waiting_, next);
    taken_ = next != nullptr;
    if (!next) return;
    if (next->alone_) alone_ = next;
    next->granted_ = true;
    next->changed_.notify_one();
}

void Scheduler::ready(Turn & turn) {
    waiting_.push_back(&turn);
    if (!taken_) hand_over();
}

void Scheduler::wait(std::unique_lock<std::mutex> & lock, Turn & turn, const std::atomic<bool> * abort) {
    const auto start = Clock::now();
    const auto granted = [&] { return turn.granted_; };
    while (abort && !turn.changed_.wait_for(lock, kPoll, granted)) {
        if (!is_aborted(abort)) continue;
        turn.is_short_ = true;
        if (memory_.unblock(turn)) ready(turn);
        abort = nullptr;
    }
    turn.changed_.wait(lock, granted);
    turn.granted_ = false;
    turn.paused_ms_ += ms_since(start);
}

Scheduler::AsPrompt::AsPrompt(Scheduler & scheduler, double rows) : turn_(scheduler.mine()) {
    if (!turn_) return;
    std::lock_guard lock(scheduler.mutex_);
    was_short_ = std::exchange(turn_->is_short_, false);
    turn_->deadline_ = scheduler.computed_rows_ + kSlack * rows;
}

Scheduler::AsPrompt::~AsPrompt() {
    if (!turn_) return;
    std::lock_guard lock(turn_->scheduler_.mutex_);
    turn_->is_short_ = was_short_;
}

void Scheduler::pause(double rows) {
    Turn * turn = mine();
    if (!turn) return;
    std::unique_lock lock(mutex_);
    computed_rows_ += rows;
    const Turn * next = best_waiting();
    if (!(next && next->goes_before(*turn)) && !batch_.is_due(turn)) return;
    ++pauses_;
    waiting_.push_back(turn);
    hand_over();
    wait(lock, *turn, turn->abort_);
}

void Scheduler::away(const std::function<void()> & wait_elsewhere) {
    Turn * turn = mine();
    if (!turn) return wait_elsewhere();
    std::unique_lock lock(mutex_);
    hand_over();
    lock.unlock();
    std::exception_ptr failure;
    try {
        wait_elsewhere();
    } catch (...) {
        failure = std::current_exception();
    }
    lock.lock();
    if (failure) turn->is_short_ = true;  // only its end is left to do
    ready(*turn);
    wait(lock, *turn, turn->abort_);
    if (failure) std::rethrow_exception(failure);
}

}  // namespace kvasir
