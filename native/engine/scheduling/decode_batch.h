#pragma once
// Computes tokens that several answers wait for in one step, which reads every weight once (continuous batching: Yu et
// al., Orca, OSDI '22). The turn that has waited longest for a step leads it, and computes the rows of the others too.
//
// Thread safety: decode() belongs to the thread that has the turn, and gives the turn away until the rows' step. So do
// sequences_in_step() and times(). Any thread may call steps() and sequences(). The scheduler's mutex guards the state;
// it is free while a step computes.
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/clock.h"
#include "step_times.h"

namespace kvasir {

class KvCache;
class Scheduler;
class Turn;

// One token of a sequence: its K and V are written, its logits go to `logits` [n_vocab].
struct DecodeRow {
    int32_t token, position;
    const KvCache * cache;
    std::vector<float> * logits;
};

class DecodeBatch {
  public:
    // Computes a step for sequences of one pool. Rows of the same sequence are at consecutive positions.
    using DecodeFn = std::function<void(const std::vector<DecodeRow> & rows, const std::atomic<bool> * abort)>;
    DecodeBatch(Scheduler & scheduler, DecodeFn decode) : scheduler_(scheduler), decode_(std::move(decode)) {}
    static constexpr int kMostRows = StepTimes::kMostRows;  // per step
    // While prompts are computed, answers get a token at this interval: about twice reading speed.
    static constexpr double kTokenMs = 100;

    // Computes the step of a sequence's `rows`, at most kMostRows, together with rows of others that wait for one.
    // False if it was not computed, since the memory arbiter took the turn's memory first. ABORTED, and what the step
    // throws.
    bool decode(const std::vector<DecodeRow> & rows, const std::atomic<bool> * abort);

    // Steps computed so far, and the sequences in them.
    int64_t steps() const { return steps_; }
    int64_t sequences() const { return sequences_; }
    int sequences_in_step() const { return sequences_in_step_; }  // in the last one
    const StepTimes & times() const { return times_; }

  private:
    friend class Scheduler;
    friend class MemoryArbiter;
    struct Entry {
        Turn & turn;
        const std::vector<DecodeRow> & rows;
        bool computed = false, interrupted = false;
        std::exception_ptr failure{};  // of the step
    };
    // Whether a step runs before `next`, which may be null.
    bool is_due(const Turn * next) const;
    Turn * take_leader();
    void compute_step(std::unique_lock<std::mutex> & lock, Entry & leader, const std::atomic<bool> * abort);
    void compute(const std::vector<DecodeRow> & rows, const std::atomic<bool> * abort);
    // Removes the turn's rows, if they wait for a step.
    void interrupt(const Turn & turn);

    Scheduler & scheduler_;
    const DecodeFn decode_;
    std::vector<Entry *> waiting_;  // in the order in which they began to wait
    Clock::time_point last_step_{};
    std::atomic<int64_t> steps_{0}, sequences_{0};
    int sequences_in_step_ = 1;
    StepTimes times_;
};

}  // namespace kvasir
