#pragma once
// With how many threads a graph is computed: with as many as were fastest of late. Threads wait for each other at every
// node by spinning, so that beside other busy programs each waits for one that the system has set aside, and fewer are
// faster; small graphs are faster with one even on an idle machine.
//
// Kept apart for graphs of different work. Where the system gives the threads less time than passes, fewer are used
// from then on; otherwise another count is tried now and then for a few hundredths of a second, in turn with the one
// in use.
//
// Thread safety: one thread at a time uses it. LeavesACore counts for the thread that makes it.
#include <map>

#include "clock.h"

namespace kvasir {

// Processor time of all threads of this process, in milliseconds.
double process_cpu_ms();

class ThreadCount {
  public:
    // `fixed`: always so many, as a person chose.
    explicit ThreadCount(int most, bool fixed = false) : most_(most), fixed_(fixed || most == 1) {}

    // Computes a graph of so much work, in any unit, once `set` was told with how many threads.
    template <typename Set, typename Compute> auto run(double work, Set set, Compute compute) {
        if (fixed_) return compute();
        set(next(work));
        const double cpu = process_cpu_ms();
        const auto start = Clock::now();
        const auto result = compute();
        const double now = std::chrono::duration<double, std::milli>(Clock::now().time_since_epoch()).count();
        took(ms_since(start), process_cpu_ms() - cpu, now);
        return result;
    }

    int most() const { return most_; }
    // For the next graph, of so much work in any unit.
    int next(double work);
    // How long that graph took by the clock, and in processor time of the whole process; and what the clock says now.
    void took(double ms, double cpu_ms, double now_ms);

  private:
    struct Block {
        double work = 0, ms = 0, cpu_ms = 0;
        int graphs = 0;
        void add(const Block & b) { work += b.work, ms += b.ms, cpu_ms += b.cpu_ms, graphs += b.graphs; }
        double speed() const { return work / ms; }
    };
    // Graphs of about the same work.
    struct Class {
        int count = 0;              // in use
        int other = 0;              // tried in turn with it; 0: none
        bool is_others_turn = false;
        int blocks = 0;             // of the trial
        Block block, usual, tried;  // under way; of the trial
        double next_trial_ms = 0, interval_ms = 0;
        bool upward = false;        // where the next trial goes
        int step = 0;               // and how far
        double share = 1;           // of the time that passed, which its threads were given when the count was chosen
        int disturbed = 0;          // blocks in a row in which they were given less
    };

    void end_block(Class & c, double now_ms);
    void decide(Class & c, double now_ms);
    void use_fewer(double share, double now_ms);
    int neighbour(Class & c, double share) const;

    const int most_;
    const bool fixed_;
    std::map<int, Class> classes_;  // by the logarithm of the work
    Class * current_ = nullptr;
    double work_ = 0;
    bool limited_ = false;
};

// While it lives, graphs that its thread computes leave a core to others: work that nobody waits for.
class LeavesACore {
  public:
    explicit LeavesACore(bool wanted);
    ~LeavesACore();
    LeavesACore(const LeavesACore &) = delete;

  private:
    bool before_;
};

}  // namespace kvasir
