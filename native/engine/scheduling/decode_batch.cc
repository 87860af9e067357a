#include "decode_batch.h"

#include <algorithm>

#include "engine/abort.h"
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

bool DecodeBatch::decode(const std::vector<DecodeRow> & rows, const std::atomic<bool> * abort) {
    Turn * turn = scheduler_.mine();
    if (!turn) return compute(rows, abort), true;
    std::unique_lock lock(scheduler_.mutex_);
    Entry own{*turn, rows};
    waiting_.push_back(&own);
    scheduler_.hand_over();
    scheduler_.wait(lock, *turn, turn->abort_);
    if (own.interrupted) return false;
    if (!own.computed) compute_step(lock, own, abort);  // it got the turn before another step took these rows
    if (own.failure) std::rethrow_exception(own.failure);
    if (is_aborted(abort)) throw Error("ABORTED", "The computation was stopped.");
    return true;
}

void DecodeBatch::compute_step(std::unique_lock<std::mutex> & lock, Entry & leader, const std::atomic<bool> * abort) {
    std::vector<DecodeRow> rows = leader.rows;
    std::vector<Entry *> others;
    for (Entry * next : waiting_) {
        if (rows.size() + next->rows.size() > size_t(kMostRows)) break;
        rows.insert(rows.end(), next->rows.begin(), next->rows.end());
        others.push_back(next);
    }
    waiting_.erase(waiting_.begin(), waiting_.begin() + std::ptrdiff_t(others.size()));
    lock.unlock();
    try {
        compute(rows, others.empty() ? abort : nullptr);
    } catch (...) {
        leader.failure = std::current_exception();
    }
    lock.lock();
    last_step_ = Clock::now();
    sequences_in_step_ = int(others.size()) + 1;
    ++steps_, sequences_ += sequences_in_step_;
    for (Entry * other : others) {
        other->computed = true, other->failure = leader.failure, other->turn.is_short_ = true;
        scheduler_.ready(other->turn);
    }
}

void DecodeBatch::compute(const std::vector<DecodeRow> & rows, const std::atomic<bool> * abort) {
    const auto start = Clock::now();
    decode_(rows, abort);
    times_.add(int(rows.size()), ms_since(start));
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
