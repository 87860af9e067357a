#include "decode_batch.h"

#include <algorithm>

#include "engine/error.h"
#include "scheduler.h"

namespace kvasir {

bool DecodeBatch::is_due(const Turn * next) const {
    if (waiting_.empty()) return false;
    if (!next) return true;
    if (next->is_short_) return false;  // its token is sampled first, and joins the step
    return next->priority_ >= Turn::kBackground || ms_since(last_step_) >= kTokenMs;
}

Turn * DecodeBatch::take_leader() {
    Turn * leader = &waiting_.front()->turn;
    waiting_.erase(waiting_.begin());
    return leader;
}

bool DecodeBatch::decode(const DecodeRow & row, const std::atomic<bool> * abort) {
    Turn * turn = scheduler_.mine();
    if (!turn) return decode_({row}, abort), true;
    std::unique_lock lock(scheduler_.mutex_);
    Entry own{*turn, row};
    waiting_.push_back(&own);
    scheduler_.hand_over();
    scheduler_.wait(lock, *turn, turn->abort_);
    if (own.interrupted) return false;
    if (!own.computed) compute_step(lock, own, abort);  // it got the turn before another step took this row
    if (own.failure) std::rethrow_exception(own.failure);
    if (abort && abort->load()) throw Error("ABORTED", "The computation was stopped.");
    return true;
}

void DecodeBatch::compute_step(std::unique_lock<std::mutex> & lock, Entry & leader, const std::atomic<bool> * abort) {
    const auto end = waiting_.begin() + std::ptrdiff_t(std::min(waiting_.size(), size_t(kMostRows - 1)));
    const std::vector<Entry *> others(waiting_.begin(), end);
    waiting_.erase(waiting_.begin(), end);
    std::vector<DecodeRow> rows{leader.row};
    for (const Entry * other : others) rows.push_back(other->row);
    lock.unlock();
    try {
        decode_(rows, others.empty() ? abort : nullptr);
    } catch (...) {
        leader.failure = std::current_exception();
    }
    lock.lock();
    last_step_ = Clock::now();
    ++steps_, rows_ += int64_t(rows.size());
    for (Entry * other : others) {
        other->computed = true, other->failure = leader.failure, other->turn.is_short_ = true;
        scheduler_.ready(other->turn);
    }
}

void DecodeBatch::interrupt(const Turn & turn) {
    const auto its = [&](const Entry * entry) { return &entry->turn == &turn; };
    const auto found = std::find_if(waiting_.begin(), waiting_.end(), its);
    if (found == waiting_.end()) return;
    Entry & entry = **found;
    waiting_.erase(found);
    entry.interrupted = entry.turn.is_short_ = true;
    scheduler_.ready(entry.turn);
}

}  // namespace kvasir
