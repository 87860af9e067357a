// How many threads a simulated machine ends up computing with.
#include "engine/thread_count.h"

#include <algorithm>

#include "tests/harness.h"

using namespace kvasir;

namespace {

// A machine on which so many cores are free, and a node costs `barrier` ms for each further thread.
struct Machine {
    double free_cores;
    double barrier = 0;
    double now = 0;

    // Milliseconds that a graph of so much work (ms with one thread) takes with `n` threads that wait for each other.
    double ms(double work, int n) const {
        const double spread = work / n + barrier * (n - 1);
        // With fewer cores than threads, some thread is set aside at each node, and all wait for it.
        return n <= free_cores ? spread : spread * 3 * n / free_cores;
    }
    // Runs graphs for so long; gives work done a ms.
    double run(ThreadCount & threads, double work, double for_ms) {
        const double start = now;
        double done = 0;
        while (now - start < for_ms) {
            const int n = threads.next(work);
            const double took = ms(work, n);
            now += took, done += work;
            threads.took(took, took * std::min(double(n), free_cores), now);
        }
        return done / (now - start);
    }
    double best(double work, int most) const {
        double best = 0;
        for (int n = 1; n <= most; ++n) best = std::max(best, work / ms(work, n));
        return best;
    }
};

}  // namespace

TEST(threads_are_as_many_as_are_fastest_whatever_is_free) {
    for (int most : {2, 4, 8, 16})
        for (double free_cores : {1.0, 2.0, 3.0, 8.0, 15.0, 16.0}) {
            ThreadCount threads(most);
            Machine machine{std::min(free_cores, double(most)), 0.01};
            machine.run(threads, 4, 6'000);  // it learns
            const double speed = machine.run(threads, 4, 20'000), best = machine.best(4, most);
            CHECK(speed * 1.15 >= best);
        }
}

TEST(threads_follow_what_becomes_free_and_what_is_taken) {
    ThreadCount threads(4);
    Machine machine{4};
    machine.run(threads, 2, 3'000);
    machine.free_cores = 1;
    machine.run(threads, 2, 1'500);
    CHECK(machine.run(threads, 2, 10'000) * 1.15 >= machine.best(2, 4));
    machine.free_cores = 4;
    machine.run(threads, 2, 12'000);
    CHECK(machine.run(threads, 2, 10'000) * 1.05 >= machine.best(2, 4));
}

TEST(small_graphs_get_fewer_threads_than_large_ones_on_the_same_machine) {
    ThreadCount threads(8);
    Machine machine{8, 0.05};
    for (int i = 0; i < 50; ++i) machine.run(threads, 0.05, 100), machine.run(threads, 64, 400);
    CHECK_EQ(threads.next(0.05), 1);
    CHECK(machine.run(threads, 64, 5'000) * 1.05 >= machine.best(64, 8));
}

TEST(background_work_leaves_a_core_on_its_own_thread_alone) {
    ThreadCount threads(4), one(1);
    CHECK_EQ(threads.next(10), 4);
    {
        const LeavesACore modest(true);
        CHECK_EQ(threads.next(10), 3);
        CHECK_EQ(one.next(10), 1);
        const LeavesACore nested(false);
        CHECK_EQ(threads.next(10), 3);
    }
    CHECK_EQ(threads.next(10), 4);
}
