#pragma once
// Chooses the number of threads for a graph: as many as there are cores that nobody else uses. Threads wait for each
// other at every node by spinning, so on a busy machine each waits for one that the system has descheduled, and fewer
// threads are faster.
//
// A core is free if it was recently idle or computed for us. That is read from the system's counters a few times a
// second, so that a prompt starts with the right number.
//
// Thread safety: any thread may use CoreUse and ThreadCount. LeavesACore applies to the thread that constructs it.
#include <functional>
#include <mutex>
#include <optional>

#include "engine/clock.h"

namespace kvasir {

// The cores that this process may run on, and their total idle time; 0 if the system does not report it.
struct Idle {
    double ms = 0;
    int cores = 0;
};
// Wall clock; CPU time of all threads of this process; idle time. In milliseconds since an arbitrary start.
double clock_ms();
double process_ms();
Idle idle_cores();

// Tracks which cores are free, and which of them compute graphs of this process.
class CoreUse {
  public:
    using Counter = std::function<double()>;
    explicit CoreUse(Counter now = clock_ms, Counter process = process_ms, std::function<Idle()> idle = idle_cores);

    // A graph begins. Returns its number of threads, from 1 to `most`.
    int begin(int most, bool fixed = false);
    void end(int threads);

  private:
    void account();
    void look();

    std::mutex mutex_;
    const Counter now_, process_;
    const std::function<Idle()> idle_;
    double counted_now_, counted_process_;  // values of the two counters below
    double own_ = 0, wanted_ = 0;           // ms that graphs computed since the last look, and asked for
    double last_look_, last_idle_;
    std::optional<double> free_;  // cores; negative: others want more than all cores
    int in_use_ = 0;    // threads of running graphs
    int ended_ = 0;     // threads of the graph that ended last
};

class ThreadCount {
  public:
    // `fixed`: always `most` threads, as chosen by the user.
    explicit ThreadCount(int most, bool fixed = false) : most_(most), fixed_(fixed) {}

    // Computes a graph, after passing its number of threads to `set`.
    template <typename Set, typename Compute> auto run(Set set, Compute compute) {
        const Begun graph(*this);
        set(graph.threads);
        return compute();
    }
    int most() const { return most_; }

  private:
    struct Begun {
        explicit Begun(const ThreadCount & of);
        ~Begun();
        const int threads;
    };
    const int most_;
    const bool fixed_;
};

// While it exists, graphs of its thread leave one core of more than two to others: for work that nobody waits for.
// Of two, that would be half of the machine; CoreUse gives up the second one as soon as somebody else needs it.
class LeavesACore {
  public:
    explicit LeavesACore(bool wanted);
    ~LeavesACore();
    LeavesACore(const LeavesACore &) = delete;
    // The number of threads, up to `most`, that this thread's graphs may use.
    static int most_of(int most);

  private:
    bool before_;
};

}  // namespace kvasir
