#include "turns.h"

#include <algorithm>
#include <utility>

#include "engine/error.h"

namespace kvasir {

namespace {
// This thread's innermost turn over all models; usually one turn, or none.
thread_local void * innermost = nullptr;
constexpr double kSlack = 2;
constexpr int kPollMs = 20;  // how often a turn that waits for another to end checks for an abort
}

Turns::Turn::Turn(Turns & turns, const Request & request)
    : turns_(turns),
      outer_(static_cast<Turn *>(innermost)),
      abort_(request.abort),
      is_short_(request.is_short),
      alone_(request.alone),
      priority_(request.priority) {
    std::unique_lock lock(turns.mutex_);
    deadline_ = turns.computed_rows_ + kSlack * request.rows;
    number_ = turns.came_++;
    ++turns.turns_;
    turns.waiting_.push_back(this);
    if (!turns.taken_) turns.hand_over();
    turns.wait(lock, *this);
    innermost = this;
}

Turns::Turn::~Turn() {
    innermost = outer_;
    std::lock_guard lock(turns_.mutex_);
    if (turns_.alone_ == this) turns_.alone_ = nullptr;
    --turns_.turns_;
    std::erase(turns_.may_give_back_, this);
    turns_.wake_blocked();
    turns_.hand_over();
}

Turns::Turn * Turns::mine() const {
    for (auto * turn = static_cast<Turn *>(innermost); turn; turn = turn->outer_)
        if (&turn->turns_ == this) return turn;
    return nullptr;
}

bool Turns::before(const Turn & a, const Turn & b) {
    if (a.is_short_ != b.is_short_) return a.is_short_;
    if (a.is_short_) return false;  // in arrival order
    if (a.priority_ != b.priority_) return a.priority_ < b.priority_;
    return a.deadline_ != b.deadline_ ? a.deadline_ < b.deadline_ : a.number_ < b.number_;
}

Turns::Turn * Turns::best_waiting() const {
    Turn * best = nullptr;
    for (Turn * turn : waiting_) {
        const bool may = !turn->alone_ || !alone_ || alone_ == turn;
        if (may && (!best || before(*turn, *best))) best = turn;
    }
    return best;
}

// Whether a decode step runs before `next`.
bool Turns::step_is_due(const Turn * next) const {
    if (decoding_.empty()) return false;
    if (!next) return true;
    if (next->is_short_) return false;  // its token is sampled first, and joins the step
    return next->priority_ >= kBackground || ms_since(last_step_) >= kTokenMs;
}

// Gives the turn, which is now free, to the next in line.
void Turns::hand_over() {
    Turn * next = best_waiting();
    auto & from = step_is_due(next) ? decoding_ : waiting_;
    if (&from == &decoding_) next = decoding_.front();
    taken_ = next != nullptr;
    if (!next) return;
    from.erase(std::find(from.begin(), from.end(), next));
    if (next->alone_) alone_ = next;
    next->granted_ = true;
    next->changed_.notify_one();
}

Turns::AsPrompt::AsPrompt(Turns & turns, double rows) : turns_(turns) {
    Turn * turn = turns.mine();
    if (!turn) return;
    std::lock_guard lock(turns.mutex_);
    was_short_ = std::exchange(turn->is_short_, false);
    turn->deadline_ = turns.computed_rows_ + kSlack * rows;
}

Turns::AsPrompt::~AsPrompt() {
    Turn * turn = turns_.mine();
    if (!turn) return;
    std::lock_guard lock(turns_.mutex_);
    turn->is_short_ = was_short_;
}

void Turns::wait(std::unique_lock<std::mutex> & lock, Turn & turn) {
    const auto granted = [&] { return turn.granted_; };
    while (turn.abort_ && !turn.is_short_ &&
           !turn.changed_.wait_for(lock, std::chrono::milliseconds(kPollMs), granted)) {
        if (turn.abort_->load()) turn.is_short_ = true;  // only its end is left to do
    }
    turn.changed_.wait(lock, granted);
    turn.granted_ = false;
}

void Turns::pause(double rows) {
    Turn * turn = mine();
    if (!turn) return;
    std::unique_lock lock(mutex_);
    computed_rows_ += rows;
    const Turn * next = best_waiting();
    if (next && !before(*next, *turn)) next = nullptr;
    if (!next && !step_is_due(turn)) return;
    const auto start = Clock::now();
    ++figures_.pauses;
    waiting_.push_back(turn);
    hand_over();
    wait(lock, *turn);
    turn->paused_ms_ += ms_since(start);
}

void Turns::away(const std::function<void()> & wait_elsewhere) {
    Turn * turn = mine();
    if (!turn) return wait_elsewhere();
    {
        std::lock_guard lock(mutex_);
        hand_over();
    }
    std::exception_ptr failure;
    try {
        wait_elsewhere();
    } catch (...) {
        failure = std::current_exception();
    }
    std::unique_lock lock(mutex_);
    const auto start = Clock::now();
    if (failure) turn->is_short_ = true;  // only its end is left to do
    waiting_.push_back(turn);
    if (!taken_) hand_over();
    wait(lock, *turn);
    turn->paused_ms_ += ms_since(start);
    if (failure) std::rethrow_exception(failure);
}

// The rows of the next step, other than the leader's.
std::vector<Turns::Turn *> Turns::take_step(Turn & leader) {
    const auto end = decoding_.begin() + std::ptrdiff_t(std::min(decoding_.size(), size_t(kMostRows - 1)));
    std::vector<Turn *> others(decoding_.begin(), end);
    decoding_.erase(decoding_.begin(), end);
    leader.row_ = nullptr;
    return others;
}

bool Turns::decode(const DecodeRow & row, const std::atomic<bool> * abort) {
    Turn * turn = mine();
    if (!turn) return decode_({row}, abort), true;
    std::unique_lock lock(mutex_);
    turn->row_ = &row;
    const auto start = Clock::now();
    decoding_.push_back(turn);
    hand_over();
    wait(lock, *turn);
    if (std::exchange(turn->interrupted_, false)) return turn->row_ = nullptr, false;
    if (turn->row_) {  // it got the turn before another step took this row, so it leads a step
        const std::vector<Turn *> others = take_step(*turn);
        std::vector<DecodeRow> rows{row};
        for (const Turn * other : others) rows.push_back(*other->row_);
        lock.unlock();
        std::exception_ptr failure;
        try {
            decode_(rows, others.empty() ? abort : nullptr);
        } catch (...) {
            failure = std::current_exception();
        }
        lock.lock();
        last_step_ = Clock::now();
        ++figures_.steps, figures_.rows += int64_t(rows.size());
        for (Turn * other : others) {
            other->row_ = nullptr, other->failure_ = failure, other->is_short_ = true;
            waiting_.push_back(other);
        }
        turn->failure_ = failure;
    }
    turn->paused_ms_ += ms_since(start);
    if (turn->failure_) std::rethrow_exception(std::exchange(turn->failure_, nullptr));
    if (abort && abort->load()) throw Error("ABORTED", "The computation was stopped.");
    return true;
}

bool Turns::wait_for_others(const std::atomic<bool> * abort) {
    Turn * turn = mine();
    std::unique_lock lock(mutex_);
    if (!turn) return false;
    // Turns that may not begin before this one ends cannot free anything that it could wait for.
    const auto behind = std::count_if(waiting_.begin(), waiting_.end(),
                                      [&](const Turn * t) { return alone_ == turn && t->alone_; });
    if (turns_ - int(blocked_.size()) - int(behind) <= 1) {
        // Nobody is running. The turn that waited longest continues, within the free memory or beyond it.
        const auto first = std::find_if(blocked_.begin(), blocked_.end(), [&](const Turn * t) {
            return wants_memory_before(*t, *turn);
        });
        if (first == blocked_.end()) return false;
        waiting_.push_back(*first);
        blocked_.erase(first);
    }
    const auto start = Clock::now();
    turn->wants_memory_ = true;
    blocked_.push_back(turn);
    hand_over();
    const auto granted = [&] { return turn->granted_; };
    while (!turn->changed_.wait_for(lock, std::chrono::milliseconds(kPollMs), granted)) {
        if (!abort || !abort->load() || !std::erase(blocked_, turn)) continue;
        turn->is_short_ = true;  // only its end is left to do
        waiting_.push_back(turn);
        if (!taken_) hand_over();
    }
    turn->granted_ = false;
    turn->paused_ms_ += ms_since(start);
    if (abort && abort->load()) throw Error("ABORTED", "The computation was stopped.");
    return true;
}

bool Turns::wants_memory_before(const Turn & a, const Turn & b) {
    return a.wants_memory_ && a.number_ < b.number_ && a.priority_ <= b.priority_;
}

bool Turns::memory_is_spoken_for() const {
    const Turn * turn = mine();
    if (!turn) return false;
    std::lock_guard lock(mutex_);
    const auto earlier = [&](const Turn * t) { return wants_memory_before(*t, *turn); };
    return std::any_of(waiting_.begin(), waiting_.end(), earlier) ||
           std::any_of(blocked_.begin(), blocked_.end(), earlier);
}

void Turns::has_memory() {
    Turn * turn = mine();
    if (!turn) return;
    std::lock_guard lock(mutex_);
    if (!std::exchange(turn->wants_memory_, false)) return;
    // The remainder may suffice for those that were bypassed.
    wake_blocked();
}

// They recheck whether there is memory for them.
void Turns::wake_blocked() {
    waiting_.insert(waiting_.end(), blocked_.begin(), blocked_.end());
    blocked_.clear();
}

void Turns::may_give_back(std::function<void()> give_back) {
    Turn * turn = mine();
    if (!turn) return;
    std::lock_guard lock(mutex_);
    turn->give_back_ = std::move(give_back);
    may_give_back_.push_back(turn);
    const auto more_urgent = [&](const Turn * t) { return t->priority_ < turn->priority_; };
    if (std::any_of(blocked_.begin(), blocked_.end(), more_urgent)) wake_blocked();
}

// The least urgent answer that can release its memory, and of these the youngest. Null if there is none.
Turns::Turn * Turns::last_in_line() const {
    Turn * last = nullptr;
    for (Turn * turn : may_give_back_)
        if (!last || turn->priority_ >= last->priority_) last = turn;
    return last;
}

bool Turns::take_back() {
    std::unique_lock lock(mutex_);
    Turn * from = last_in_line();
    if (!from) return false;
    // Keeps its memory if nobody else could use it.
    if (from == mine() && turns_ - int(blocked_.size()) <= 1) return false;
    take_back_from(std::move(lock), *from);
    return true;
}

bool Turns::take_back_from_less_urgent() {
    const Turn * turn = mine();
    std::unique_lock lock(mutex_);
    Turn * from = last_in_line();
    if (!turn || !from || from->priority_ <= turn->priority_) return false;
    take_back_from(std::move(lock), *from);
    return true;
}

void Turns::take_back_from(std::unique_lock<std::mutex> lock, Turn & turn) {
    std::erase(may_give_back_, &turn);
    ++figures_.taken_back;
    if (std::erase(decoding_, &turn)) {
        turn.interrupted_ = turn.is_short_ = true;
        waiting_.push_back(&turn);
    }
    lock.unlock();
    turn.give_back_();
}

double Turns::paused_ms() const {
    const Turn * turn = mine();
    return turn ? turn->paused_ms_ : 0;
}

int Turns::priority() const {
    const Turn * turn = mine();
    return turn ? turn->priority_ : 0;
}

Turns::Figures Turns::figures() const {
    std::lock_guard lock(mutex_);
    return figures_;
}

}  // namespace kvasir
