// Scheduling of turns, without a model.
#include "engine/scheduling/scheduler.h"

#include <atomic>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "engine/error.h"
#include "tests/fixtures.h"

using namespace kvasir;
using test::error_code;

namespace {

// Records names in the order in which they compute.
struct Desk {
    std::vector<std::string> done;
    std::vector<size_t> steps;  // rows of each step
    Scheduler scheduler{[this](const auto & rows, const std::atomic<bool> *) { steps.push_back(rows.size()); }};
    std::deque<std::thread> threads;

    // Computes `batches` times `rows`, taking `ms` each, after earlier requests have queued.
    void compute(const std::string & name, const Turn::Request & request, int batches, double rows, double ms = 0) {
        std::atomic<bool> waits{false};
        threads.emplace_back([this, name, request, batches, rows, ms, &waits] {
            waits = true;
            const Turn turn(scheduler, request);
            for (int i = 0; i < batches; ++i) {
                done.push_back(name);
                std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
                scheduler.pause(rows);
            }
        });
        while (!waits) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until it waits for its turn
    }
    void join() {
        for (std::thread & t : threads) t.join();
        threads.clear();
    }
    std::string order() const {
        std::string all;
        for (const std::string & name : done) all += name;
        return all;
    }
};

}  // namespace

TEST(a_short_question_overtakes_a_long_prompt_and_nothing_is_overtaken_forever) {
    Desk desk;
    {
        // Until this turn ends the others wait, in arrival order.
        const Turn first(desk.scheduler, {.rows = 1});
        desk.compute("L", {.rows = 400}, 4, 100);
        desk.compute("s", {.rows = 100}, 1, 100);
        desk.compute("t", {.rows = 100}, 1, 100);
    }
    desk.join();
    CHECK_EQ(desk.order(), "stLLLL");

    Desk stream;  // short ones keep coming: once the long one is near its deadline, later arrivals wait for it
    {
        const Turn first(stream.scheduler, {.rows = 1});
        stream.compute("L", {.rows = 200}, 2, 100);
        stream.compute("s", {.rows = 100}, 1, 100);
    }
    stream.join();
    stream.scheduler.pause(0);
    CHECK_EQ(stream.order(), "sLL");
}

TEST(what_a_person_waits_for_precedes_jobs_and_those_precede_background_work) {
    Desk desk;
    {
        const Turn first(desk.scheduler, {.rows = 1});
        desk.compute("b", {.priority = Turn::kBackground, .rows = 10}, 2, 10);
        desk.compute("j", {.priority = 1, .rows = 10}, 2, 10);
        desk.compute("q", {.priority = 0, .rows = 500}, 2, 250);
        desk.compute(".", {.is_short = true}, 1, 0);
    }
    desk.join();
    CHECK_EQ(desk.order(), ".qqjjbb");
}

TEST(a_running_prompt_gives_way_to_an_earlier_deadline) {
    Desk desk;
    std::atomic<bool> began{false}, go{false};
    desk.threads.emplace_back([&] {
        const Turn turn(desk.scheduler, {.rows = 1000});
        began = true;
        while (!go) std::this_thread::yield();
        for (int i = 0; i < 3; ++i) desk.done.push_back("L"), desk.scheduler.pause(100);
    });
    while (!began) std::this_thread::yield();
    desk.compute("s", {.rows = 100}, 1, 100);
    go = true;
    desk.join();
    CHECK_EQ(desk.order(), "LsLL");
}

TEST(a_prompt_interrupted_by_a_step_continues_before_an_equal_one_begins) {
    Desk desk;
    {
        const Turn first(desk.scheduler, {.rows = 1});
        desk.threads.emplace_back([&] {
            const Turn turn(desk.scheduler, {.is_short = true});
            std::vector<float> logits;
            for (int t = 0; t < 2; ++t) desk.scheduler.batch().decode({{0, 0, nullptr, &logits}}, nullptr);
        });
        desk.compute("a", {.rows = 100}, 3, 10, DecodeBatch::kTokenMs);  // after one batch the second token is due
        desk.compute("b", {.rows = 100}, 3, 10);
    }
    desk.join();
    CHECK_EQ(desk.order(), "aaabbb");
}

TEST(requests_that_need_a_device_exclusively_run_one_after_another) {
    Desk desk;
    {
        const Turn first(desk.scheduler, {.rows = 1});
        desk.compute("L", {.rows = 100, .alone = true}, 1, 100);
        desk.compute("x", {.rows = 400, .alone = true}, 3, 100);
    }
    desk.join();
    CHECK_EQ(desk.order(), "Lxxx");

    Desk other;
    std::atomic<bool> began{false}, go{false};
    other.threads.emplace_back([&] {
        const Turn turn(other.scheduler, {.rows = 1000, .alone = true});
        began = true;
        while (!go) std::this_thread::yield();
        for (int i = 0; i < 3; ++i) other.done.push_back("L"), other.scheduler.pause(100);
    });
    while (!began) std::this_thread::yield();
    other.compute("s", {.rows = 10, .alone = true}, 1, 10);
    other.compute(".", {.is_short = true}, 1, 0);
    go = true;
    other.join();
    CHECK_EQ(other.order(), "L.LLs");
}

TEST(exclusive_requests_do_not_wait_for_the_next_one_to_end) {
    Desk desk;
    {
        const Turn turn(desk.scheduler, {.rows = 100, .alone = true});
        desk.compute("x", {.rows = 100, .alone = true}, 1, 100);
        CHECK(!desk.scheduler.memory().wait_for_others(nullptr));
        desk.compute("y", {.rows = 100}, 1, 100);  // this one can end
        CHECK(desk.scheduler.memory().wait_for_others(nullptr));
        desk.done.push_back("a");
    }
    desk.join();
    CHECK_EQ(desk.order(), "yax");
}

TEST(a_request_aborted_while_waiting_gets_the_turn_before_all_prompts) {
    Desk desk;
    const std::atomic<bool> abort{true};
    {
        const Turn first(desk.scheduler, {.rows = 1});
        desk.compute("q", {.rows = 10}, 1, 10);
        desk.compute("s", {.priority = Turn::kBackground, .rows = 1e6, .abort = &abort}, 1, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
    }
    desk.join();
    CHECK_EQ(desk.order(), "sq");
}

TEST(a_short_turn_that_computes_a_prompt_pauses_like_a_prompt) {
    Desk desk;
    {
        const Turn turn(desk.scheduler, {.is_short = true});
        {
            const Scheduler::AsPrompt as_prompt(desk.scheduler, 1000);
            desk.compute("q", {.rows = 10}, 1, 10);
            desk.done.push_back("r"), desk.scheduler.pause(10);
            desk.done.push_back("r");
        }
        desk.compute("p", {.rows = 10}, 1, 10);
        desk.scheduler.pause(10);
        desk.done.push_back("s");
    }
    desk.join();
    CHECK_EQ(desk.order(), "rqrsp");
}

TEST(free_memory_goes_to_whoever_waited_first) {
    Desk desk;
    std::vector<bool> spoken;
    std::atomic<bool> waits{false};
    {
        const Turn first(desk.scheduler, {.rows = 1});
        desk.threads.emplace_back([&] {
            waits = true;
            const Turn early(desk.scheduler, {.rows = 10});
            desk.scheduler.memory().wait_for_others(nullptr);
            desk.done.push_back("e");
            desk.scheduler.memory().has_memory();
        });
        while (!waits) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        desk.threads.emplace_back([&] {
            const Turn late(desk.scheduler, {.rows = 1000});
            spoken.push_back(desk.scheduler.memory().is_spoken_for());
            while (desk.scheduler.memory().is_spoken_for() && desk.scheduler.memory().wait_for_others(nullptr)) {}
            desk.done.push_back("l");
            spoken.push_back(desk.scheduler.memory().is_spoken_for());
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        desk.scheduler.away([] { std::this_thread::sleep_for(std::chrono::milliseconds(60)); });
        CHECK(!desk.scheduler.memory().is_spoken_for());  // this one arrived earlier
    }
    desk.join();
    CHECK_EQ(desk.order(), "el");
    CHECK(spoken == std::vector<bool>({true, false}));
}

TEST(the_youngest_of_the_least_urgent_answers_releases_its_memory) {
    Scheduler scheduler([](const std::vector<DecodeRow> &, const std::atomic<bool> *) {});
    std::string given;
    std::deque<std::thread> threads;
    std::atomic<int> ready{0};
    std::atomic<bool> done{false};
    for (const auto & [name, priority] : {std::pair{'a', 1}, std::pair{'b', 1}, std::pair{'c', 0}, std::pair{'d', 0}}) {
        threads.emplace_back([&, name = name, priority = priority] {
            const Turn turn(scheduler, {.priority = priority, .rows = 1});
            scheduler.memory().may_give_back([&, name] { given += name; });
            ++ready;
            scheduler.away([&] { while (!done) std::this_thread::yield(); });
        });
        while (ready < int(threads.size())) std::this_thread::yield();
    }
    {
        const Turn turn(scheduler, {.rows = 1});
        CHECK(scheduler.memory().take_back_from_less_urgent());
        CHECK(scheduler.memory().take_back());
        CHECK(!scheduler.memory().take_back_from_less_urgent());  // the remaining ones are equally urgent
        CHECK(scheduler.memory().take_back() && scheduler.memory().take_back() && !scheduler.memory().take_back());
        CHECK_EQ(given, "badc");
        done = true;
    }
    for (std::thread & t : threads) t.join();
}

TEST(if_nobody_runs_the_first_to_wait_for_memory_continues) {
    Desk desk;
    {
        const Turn first(desk.scheduler, {.rows = 1});
        for (const char * name : {"a", "b", "c"}) {
            std::atomic<bool> waits{false};
            desk.threads.emplace_back([&desk, &waits, name] {
                waits = true;
                const Turn turn(desk.scheduler, {.rows = 1});
                while (desk.scheduler.memory().wait_for_others(nullptr)) {}  // never enough
                desk.done.push_back(name);
            });
            while (!waits) std::this_thread::yield();
            // Until it is blocked.
            desk.scheduler.away([] { std::this_thread::sleep_for(std::chrono::milliseconds(40)); });
        }
    }
    desk.join();
    CHECK_EQ(desk.order(), "abc");
}

TEST(a_prompt_aborted_while_paused_gets_the_turn_to_end) {
    Desk desk;
    std::atomic<bool> abort{false}, began{false}, go{false};
    desk.threads.emplace_back([&] {
        const Turn turn(desk.scheduler, {.priority = 1, .rows = 1000, .abort = &abort});
        began = true;
        while (!go) std::this_thread::yield();
        desk.scheduler.pause(10);
        desk.done.push_back("p");
    });
    while (!began) std::this_thread::yield();
    desk.compute("q", {.rows = 10}, 10, 10, 40);
    abort = true;
    go = true;
    desk.join();
    CHECK_EQ(desk.order().back(), 'q');
}

TEST(waiting_for_memory_rechecks_when_a_less_urgent_answer_can_release_some) {
    Desk desk;
    std::atomic<bool> waits{false}, had{false};
    {
        const Turn program(desk.scheduler, {.priority = 1, .rows = 1});
        desk.threads.emplace_back([&] {
            waits = true;
            const Turn person(desk.scheduler, {.rows = 1});
            MemoryArbiter & memory = desk.scheduler.memory();
            while (!memory.take_back_from_less_urgent()) memory.wait_for_others(nullptr);
            had = true;
        });
        while (!waits) std::this_thread::yield();
        desk.scheduler.away([] { std::this_thread::sleep_for(std::chrono::milliseconds(40)); });  // until it is blocked
        CHECK(!had);
        desk.scheduler.memory().may_give_back([&] { desk.done.push_back("g"); });
        for (int i = 0; i < 2000 && !had; ++i) {
            desk.scheduler.pause(1);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        CHECK(had);
    }
    desk.join();
    CHECK_EQ(desk.order(), "g");
}

TEST(tokens_of_many_answers_are_computed_in_one_step) {
    Desk desk;
    {
        const Turn first(desk.scheduler, {.rows = 1});
        for (int i = 0; i < 20; ++i) {
            std::atomic<bool> waits{false};
            desk.threads.emplace_back([&] {
                waits = true;
                const Turn turn(desk.scheduler, {.is_short = true});
                std::vector<float> logits;
                for (int t = 0; t < 3; ++t) desk.scheduler.batch().decode({{0, 0, nullptr, &logits}}, nullptr);
            });
            while (!waits) std::this_thread::yield();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    desk.join();
    size_t rows = 0;
    for (size_t n : desk.steps) {
        rows += n;
        CHECK(n <= size_t(DecodeBatch::kMostRows));
    }
    CHECK_EQ(rows, size_t(60));
    CHECK(desk.steps.size() <= 6);
    CHECK_EQ(desk.scheduler.batch().sequences(), int64_t(60));
}

TEST(a_failed_step_fails_all_of_its_rows_and_an_abort_only_its_own) {
    Scheduler scheduler([](const auto &, const auto *) { throw Error("OUT_OF_MEMORY", ""); });
    std::atomic<int> failed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            const Turn turn(scheduler, {.is_short = true});
            std::vector<float> logits;
            const auto decode = [&] { scheduler.batch().decode({{0, 0, nullptr, &logits}}, nullptr); };
            failed += error_code(decode) == "OUT_OF_MEMORY";
        });
    }
    for (std::thread & t : threads) t.join();
    CHECK_EQ(failed.load(), 4);

    Scheduler fine([](const std::vector<DecodeRow> &, const std::atomic<bool> *) {});
    const std::atomic<bool> abort{true};
    const Turn turn(fine, {.is_short = true});
    std::vector<float> logits;
    CHECK_EQ(error_code([&] { fine.batch().decode({{0, 0, nullptr, &logits}}, &abort); }), "ABORTED");
}
