#pragma once
// With how many threads a graph is computed: as many as there are cores that no one else computes on. Threads wait for
// each other at every node by spinning, so that beside other busy programs each waits for one that the system has set
// aside, and fewer are faster.
//
// A core is free where it was idle of late, or computed for us. That is read from the system's counters a few times a
// second, so that a prompt begins with the right number.
//
// Thread safety: CoreUse and ThreadCount: any thread. LeavesACore counts for the thread that makes it.
#include <functional>
#include <mutex>
#include <optional>

#include "clock.h"

namespace kvasir {

// The cores that this process may run on, and how long they have been idle, together; 0 where the system does not say.
struct Idle {
    double ms = 0;
    int cores = 0;
};
// By the clock; processor time of all threads of this process; idle time. In milliseconds since any moment.
double clock_ms();
double process_ms();
Idle idle_cores();

// Which cores are free, and which of them graphs of this process are computed on.
class CoreUse {
  public:
    using Counter = std::function<double()>;
    explicit CoreUse(Counter now = clock_ms, Counter process = process_ms, std::function<Idle()> idle = idle_cores);

    // A graph begins: with how many threads, from 1 to `most`.
    int begin(int most, bool fixed = false);
    void end(int threads);

  private:
    void account();
    void look();

    std::mutex mutex_;
    const Counter now_, process_;
    const std::function<Idle()> idle_;
    double counted_now_, counted_process_;  // what the following two have
    double own_ = 0, wanted_ = 0;           // milliseconds that graphs computed since the last look, and would have
    double last_look_, last_idle_;
    std::optional<double> free_;  // cores; below 0: others would take more than all
    int in_use_ = 0;    // threads of graphs under way
    int ended_ = 0;     // those of the graph that ended last
};

class ThreadCount {
  public:
    // `fixed`: always so many, as a person chose.
    explicit ThreadCount(int most, bool fixed = false) : most_(most), fixed_(fixed) {}

    // Computes a graph, once `set` was told with how many threads.
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

// While it lives, graphs that its thread computes leave a core to others: work that nobody waits for.
class LeavesACore {
  public:
    explicit LeavesACore(bool wanted);
    ~LeavesACore();
    LeavesACore(const LeavesACore &) = delete;
    // How many threads of `most` this thread's graphs may have.
    static int most_of(int most);

  private:
    bool before_;
};

}  // namespace kvasir
