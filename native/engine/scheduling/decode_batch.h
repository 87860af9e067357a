#pragma once
// Computes tokens that several answers wait for in one step, which reads every weight once (continuous batching: Yu et
// al., Orca, OSDI '22). The turn that has waited longest for a step leads it, and computes the rows of the others too.
//
// Thread safety: decode() belongs to the thread that has the turn, and gives the turn away until the row's step. Any
// thread may call steps() and rows(). The scheduler's mutex guards the state; it is free while a step computes.
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/clock.h"

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
    // Computes a step for several sequences of one pool.
    using DecodeFn = std::function<void(const std::vector<DecodeRow> & rows, const std::atomic<bool> * abort)>;
    DecodeBatch(Scheduler & scheduler, DecodeFn decode) : scheduler_(scheduler), decode_(std::move(decode)) {}
    static constexpr int kMostRows = 16;  // per step
    // While prompts are computed, answers get a token at this interval: about twice reading speed.
    static constexpr double kTokenMs = 100;

    // Computes the row's step, together with all rows waiting for one. False if it was not computed, since the memory
    // arbiter took the turn's memory first. ABORTED, and what the step throws.
    bool decode(const DecodeRow & row, const std::atomic<bool> * abort);

    // Steps computed so far, and their rows.
    int64_t steps() const { return steps_; }
    int64_t rows() const { return rows_; }

  private:
    friend class Scheduler;
    friend class MemoryArbiter;
    struct Entry {
        Turn & turn;
        const DecodeRow & row;
        bool computed = false, interrupted = false;
        std::exception_ptr failure{};  // of the step
    };
    // Whether a step runs before `next`, which may be null.
    bool is_due(const Turn * next) const;
    Turn * take_leader();
    void compute_step(std::unique_lock<std::mutex> & lock, Entry & leader, const std::atomic<bool> * abort);
    // Removes the turn's row, if it waits for a step.
    void interrupt(const Turn & turn);

    Scheduler & scheduler_;
    const DecodeFn decode_;
    std::vector<Entry *> waiting_;  // in the order in which they began to wait
    Clock::time_point last_step_{};
    std::atomic<int64_t> steps_{0}, rows_{0};
};

}  // namespace kvasir
