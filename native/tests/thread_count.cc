// Thread counts of graphs on a simulated machine.
#include "engine/scheduling/thread_count.h"

#include <algorithm>

#include "tests/harness.h"

using namespace kvasir;

namespace {

// A machine on which other programs keep up to `busy` cores busy.
struct Machine {
    double cores, busy = 0;
    bool counts = true;
    double now = 0, idle = 1, process = 0;
    CoreUse use{[this] { return now; }, [this] { return process; },
                [this] { return Idle{counts ? idle : 0, int(cores)}; }};

    void pass(double ms, double ours) {
        const double share = std::min(1.0, cores / std::max(1.0, ours + busy));
        now += ms;
        process += ours * share * ms;
        idle += (cores - (ours + busy) * share) * ms;
    }
    // Runs graphs of 10 ms for `for_ms`; returns the number of threads of the last.
    int run(double for_ms, int most) {
        int threads = 0;
        for (double end = now + for_ms; now < end;) {
            threads = use.begin(most);
            pass(10, threads);
            use.end(threads);
        }
        return threads;
    }
};

}  // namespace

TEST(graphs_have_as_many_threads_as_cores_are_free) {
    for (int cores : {1, 2, 4, 8, 16})
        for (int busy = 0; busy < cores; ++busy) {
            Machine machine{double(cores), double(busy)};
            CHECK_EQ(machine.run(1'000, cores), std::max(1, cores - busy));
        }
    Machine crowded{2, 4};
    CHECK_EQ(crowded.run(1'000, 2), 1);
}

TEST(the_thread_count_follows_cores_becoming_free_and_busy) {
    Machine machine{4};
    CHECK_EQ(machine.run(500, 4), 4);
    machine.busy = 3;
    CHECK_EQ(machine.run(500, 4), 1);
    machine.busy = 0;
    CHECK_EQ(machine.run(450, 4), 4);
}

TEST(a_prompt_begins_with_the_right_number_of_threads) {
    Machine machine{4};
    machine.run(500, 4);
    machine.busy = 2;
    machine.pass(5'000, 0);
    CHECK_EQ(machine.use.begin(4), 2);
}

TEST(concurrent_graphs_share_the_cores) {
    Machine machine{8};
    machine.run(500, 8);
    CHECK_EQ(machine.use.begin(6), 6);
    CHECK_EQ(machine.use.begin(8), 2);
    CHECK_EQ(machine.use.begin(8), 1);
    machine.use.end(6);
    CHECK_EQ(machine.use.begin(8), 5);
}

TEST(without_counters_or_with_a_fixed_count_all_threads_compute) {
    Machine silent{2, 1};
    silent.counts = false;
    CHECK_EQ(silent.run(1'000, 2), 2);
    Machine busy{2, 1};
    busy.run(500, 2);
    CHECK_EQ(busy.use.begin(2, true), 2);
}

TEST(idle_time_of_this_machine_is_counted) {
    const Idle before = idle_cores();
    CHECK(before.ms > 0);
    CHECK(before.cores > 0);
    CHECK(idle_cores().ms >= before.ms);
}

TEST(background_work_leaves_one_of_several_cores_only_on_its_own_thread) {
    CHECK_EQ(LeavesACore::most_of(4), 4);
    {
        const LeavesACore modest(true);
        CHECK_EQ(LeavesACore::most_of(4), 3);
        CHECK_EQ(LeavesACore::most_of(2), 2);
        CHECK_EQ(LeavesACore::most_of(1), 1);
        const LeavesACore nested(false);
        CHECK_EQ(LeavesACore::most_of(4), 3);
    }
    CHECK_EQ(LeavesACore::most_of(4), 4);
}
