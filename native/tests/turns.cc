// Many at once on one model: the same numbers as alone, and whose turn it is.
#include "engine/turns.h"

#include <atomic>
#include <deque>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "engine/error.h"
#include "tests/fixtures.h"

using namespace kvasir;
using test::encode;
using test::ids;
using test::kFull;
using test::kNone;
using test::tiny;
using test::error_code;

namespace {

// What a request on a model of its own thread gives: its text and the logits behind it.
struct Answer {
    std::vector<int32_t> tokens;
    std::vector<float> prompt_logits, logits;
};

struct Asked {
    std::vector<Segment> segments;
    StrategySpec strategy;
    int max_tokens;
};

Answer answer(const std::shared_ptr<Model> & m, const Asked & asked,
              const std::function<void()> & appended = [] {}) {
    Session session(m, 2048);
    Answer a;
    session.append(asked.segments, asked.strategy, nullptr, nullptr);
    a.prompt_logits = session.logits();
    appended();
    a.tokens = session.generate(asked.max_tokens, {}, nullptr, nullptr).tokens;
    a.logits = session.logits();
    return a;
}

// All at once, each on a thread of its own, as the addon does it.
std::vector<Answer> answers(const std::shared_ptr<Model> & m, const std::vector<Asked> & all) {
    std::vector<Answer> out(all.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < all.size(); ++i) {
        threads.emplace_back([&, i] {
            const Turns::Turn turn(*m->turns(), {.rows = 100});
            out[i] = answer(m, all[i]);
        });
    }
    for (std::thread & t : threads) t.join();
    return out;
}

std::vector<Asked> several(const std::shared_ptr<Model> & m) {
    std::vector<Asked> all;
    for (int i = 0; i < 6; ++i) {
        auto a = encode(m, ids(70 + 20 * i, i)), b = encode(m, ids(150, 9 - i));
        const StrategySpec strategy =
            i % 3 == 0 ? kFull
            : i % 3 == 1 ? kNone
                         : StrategySpec{.name = "deviation", .check_layers = {1}, .ratios = {0.3}};
        all.push_back({{{{1}, nullptr}, {{}, a}, {{}, b}, {ids(20 + i, 3 + i), nullptr}}, strategy, 70 + 5 * i});
    }
    return all;
}

void same_as_alone(const std::shared_ptr<Model> & m) {
    const std::vector<Asked> all = several(m);
    std::vector<Answer> alone;
    for (const Asked & asked : all) alone.push_back(answer(m, asked));
    const Turns::Figures before = m->turns()->figures();
    const std::vector<Answer> together = answers(m, all);
    const Turns::Figures after = m->turns()->figures();
    for (size_t i = 0; i < all.size(); ++i) {
        CHECK(together[i].prompt_logits == alone[i].prompt_logits);
        CHECK(together[i].tokens == alone[i].tokens);
        CHECK(together[i].logits == alone[i].logits);
    }
    // They did decode together: else this says nothing.
    CHECK(after.rows - before.rows > 2 * (after.steps - before.steps));
}

}  // namespace

TEST(a_first_token_waits_for_nobody) {
    const auto m = tiny("llama");
    Session session(m, 512);
    session.append({{ids(40)}}, kFull, nullptr, nullptr);
    std::promise<void> first;
    std::optional<Turns::Turn> other(std::in_place, *m->turns(), Turns::Request{.rows = 100});
    std::atomic<int> tokens = 0;
    std::thread asks([&] {
        const auto tell = [&](const Sampled &) {
            if (++tokens == 1) first.set_value();
            return true;
        };
        session.generate(3, {}, nullptr, tell);
    });
    const auto told = first.get_future().wait_for(std::chrono::seconds(20));
    CHECK(told == std::future_status::ready);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK_EQ(tokens.load(), 1);  // the second is computed, in turn
    other.reset();
    asks.join();
    CHECK_EQ(tokens.load(), 3);
}

TEST(many_at_once_give_what_each_gives_alone_bit_for_bit) {
    for (const std::string & arch : architecture_names()) same_as_alone(tiny(arch));
}

TEST(many_at_once_give_what_each_gives_alone_in_every_format_of_weights) {
    for (const char * type : {"q8_0", "q4_K", "q6_K", "q5_K", "q4_0", "bf16", "f32"}) {
        same_as_alone(tiny("qwen3", "--embd 256 --ff 512 --type " + std::string(type)));
    }
}

TEST(many_at_once_on_a_device_with_masks_give_what_each_gives_alone) {
    for (KvDtype kv : {KvDtype::f16, KvDtype::q8_0}) same_as_alone(tiny("qwen3", "--head-dim 32", {2, "cpu", kv}));
}

TEST(answers_for_which_memory_runs_out_are_computed_again_and_stay_the_same) {
    auto m = tiny("qwen3");
    const std::vector<Asked> all = several(m);
    std::vector<Answer> alone;
    for (const Asked & asked : all) alone.push_back(answer(m, asked));
    // Room for two or three of the six: they take five to seven blocks each.
    m->kv_pool().set_budget(15 * m->kv_pool().block_bytes());
    const std::vector<Answer> together = answers(m, all);
    for (size_t i = 0; i < all.size(); ++i) {
        CHECK(together[i].tokens == alone[i].tokens);
        CHECK(together[i].logits == alone[i].logits);
    }
    CHECK(m->turns()->figures().taken_back > 0);
    CHECK(m->kv_pool().blocks().size() <= 15 + 7);  // one alone gets what it needs
}

TEST(a_prompt_waits_until_a_session_that_was_done_with_is_freed_instead_of_taking_more) {
    auto m = tiny("qwen3");
    const int budget = 6;
    m->kv_pool().set_budget(budget * m->kv_pool().block_bytes());
    auto done = std::make_shared<Session>(m, 512);
    std::thread asks, frees;
    {
        const Turns::Turn turn(*m->turns(), {.rows = 1});
        done->append({{ids(300), nullptr}}, kFull, nullptr, nullptr);
        asks = std::thread([&] {
            const Turns::Turn its(*m->turns(), {.rows = 1});
            Session session(m, 512);
            session.append({{ids(200, 3), nullptr}}, kFull, nullptr, nullptr);
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        m->turns()->away([] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); });  // it waits for memory
        frees = std::thread([&] {  // as whoever asked lets it go: in a turn of its own, later
            std::this_thread::sleep_for(std::chrono::milliseconds(60));
            const Turns::Turn its(*m->turns(), {.is_short = true});
            done.reset();
        });
    }
    asks.join();
    frees.join();
    CHECK(m->kv_pool().blocks().size() <= budget);
}

TEST(a_prompt_that_needs_no_memory_waits_for_none) {
    auto m = tiny("qwen3");
    Session session(m, 512);
    session.reserve(128);
    m->kv_pool().set_budget(m->kv_pool().block_bytes());
    std::thread asks;
    std::atomic<bool> done{false};
    {
        const Turns::Turn other(*m->turns(), {.rows = 1e6});  // that does not end before it is done
        asks = std::thread([&] {
            const Turns::Turn turn(*m->turns(), {.rows = 1});
            session.append({{ids(100), nullptr}}, kFull, nullptr, nullptr);
            done = true;
        });
        for (int i = 0; i < 2000 && !done; ++i) {
            m->turns()->pause(1);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        CHECK(done.load());
    }
    asks.join();
}

TEST(a_prompt_that_waits_for_memory_can_be_stopped_while_others_are_at_work) {
    auto m = tiny("qwen3");
    m->kv_pool().set_budget(2 * m->kv_pool().block_bytes());
    std::atomic<bool> abort{false}, stopped{false}, in_time{false};
    std::string code;
    std::vector<std::thread> threads;
    {
        const Turns::Turn first(*m->turns(), {.rows = 1});
        threads.emplace_back([&] {
            const Turns::Turn turn(*m->turns(), {.rows = 1});
            Session session(m, 512);
            code = error_code([&] { session.append({{ids(300), nullptr}}, kFull, &abort, nullptr); });
            stopped = true;
        });
        threads.emplace_back([&] {  // at work until the prompt was stopped, or for long enough
            const Turns::Turn turn(*m->turns(), {.rows = 1e6});
            abort = true;
            for (int i = 0; i < 2000 && !stopped; ++i) {
                m->turns()->pause(1);
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            }
            in_time = stopped.load();
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until both wait
    }
    for (std::thread & t : threads) t.join();
    CHECK(in_time.load());
    CHECK_EQ(code, "ABORTED");
}

TEST(a_prompt_that_another_comes_into_gives_the_same_and_the_short_one_is_done_first) {
    auto m = tiny("qwen3");
    const std::vector<Asked> all = several(m);
    const Answer long_alone = answer(m, all[1]), short_alone = answer(m, all[2]);
    Answer in_between;
    std::thread other;
    Session session(m, 2048);
    std::vector<std::string> ended;
    {
        const Turns::Turn turn(*m->turns(), {.rows = 1e6});
        session.append(all[1].segments, all[1].strategy, nullptr, [&](Progress) {
            if (other.joinable()) return;
            other = std::thread([&] {
                const Turns::Turn its(*m->turns(), {.rows = 10});
                in_between = answer(m, all[2], [&] { ended.push_back("short"); });
            });
            std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until it waits for its turn
        });
        ended.push_back("long");
    }
    other.join();
    CHECK_EQ(ended.front(), "short");
    CHECK(session.logits() == long_alone.prompt_logits);
    CHECK(in_between.logits == short_alone.logits);
    CHECK(in_between.tokens == short_alone.tokens);
    CHECK(m->turns()->figures().pauses > 0);
}

namespace {

// Turns without a model: what is done is a list of names, in the order it is done.
struct Desk {
    std::vector<std::string> done;
    std::vector<size_t> steps;  // rows of each
    Turns turns{[this](const auto & rows, const std::atomic<bool> *) { steps.push_back(rows.size()); }};
    std::deque<std::thread> threads;

    // Computes `batches` times `rows`, each in `ms`, once the others have come as well.
    void compute(const std::string & name, const Turns::Request & request, int batches, double rows, double ms = 0) {
        std::atomic<bool> waits{false};
        threads.emplace_back([this, name, request, batches, rows, ms, &waits] {
            waits = true;
            const Turns::Turn turn(turns, request);
            for (int i = 0; i < batches; ++i) {
                done.push_back(name);
                std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
                turns.pause(rows);
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

TEST(a_short_question_passes_a_long_prompt_and_none_is_passed_for_ever) {
    Desk desk;
    {
        // Until this turn ends the others wait, in the order they came.
        const Turns::Turn first(desk.turns, {.rows = 1});
        desk.compute("L", {.rows = 400}, 4, 100);
        desk.compute("s", {.rows = 100}, 1, 100);
        desk.compute("t", {.rows = 100}, 1, 100);
    }
    desk.join();
    CHECK_EQ(desk.order(), "stLLLL");

    Desk stream;  // short ones keep coming: those that come once the long one is near its deadline wait for it
    {
        const Turns::Turn first(stream.turns, {.rows = 1});
        stream.compute("L", {.rows = 200}, 2, 100);
        stream.compute("s", {.rows = 100}, 1, 100);
    }
    stream.join();
    stream.turns.pause(0);
    CHECK_EQ(stream.order(), "sLL");
}

TEST(what_a_person_waits_for_goes_before_jobs_and_those_before_what_can_wait) {
    Desk desk;
    {
        const Turns::Turn first(desk.turns, {.rows = 1});
        desk.compute("b", {.priority = Turns::kBackground, .rows = 10}, 2, 10);
        desk.compute("j", {.priority = 1, .rows = 10}, 2, 10);
        desk.compute("q", {.priority = 0, .rows = 500}, 2, 250);
        desk.compute(".", {.is_short = true}, 1, 0);
    }
    desk.join();
    CHECK_EQ(desk.order(), ".qqjjbb");
}

TEST(a_prompt_that_is_computed_gives_way_to_one_with_an_earlier_deadline) {
    Desk desk;
    std::atomic<bool> began{false}, go{false};
    desk.threads.emplace_back([&] {
        const Turns::Turn turn(desk.turns, {.rows = 1000});
        began = true;
        while (!go) std::this_thread::yield();
        for (int i = 0; i < 3; ++i) desk.done.push_back("L"), desk.turns.pause(100);
    });
    while (!began) std::this_thread::yield();
    desk.compute("s", {.rows = 100}, 1, 100);
    go = true;
    desk.join();
    CHECK_EQ(desk.order(), "LsLL");
}

TEST(a_prompt_that_a_step_came_into_goes_on_before_an_equal_one_begins) {
    Desk desk;
    {
        const Turns::Turn first(desk.turns, {.rows = 1});
        desk.threads.emplace_back([&] {
            const Turns::Turn turn(desk.turns, {.is_short = true});
            std::vector<float> logits;
            for (int t = 0; t < 2; ++t) desk.turns.decode({0, 0, nullptr, &logits}, nullptr);
        });
        desk.compute("a", {.rows = 100}, 3, 10, Turns::kTokenMs);  // after one batch the second token is due
        desk.compute("b", {.rows = 100}, 3, 10);
    }
    desk.join();
    CHECK_EQ(desk.order(), "aaabbb");
}

TEST(of_what_a_device_has_once_one_request_is_at_work_until_its_end) {
    Desk desk;
    {
        const Turns::Turn first(desk.turns, {.rows = 1});
        desk.compute("L", {.rows = 100, .alone = true}, 1, 100);
        desk.compute("x", {.rows = 400, .alone = true}, 3, 100);
    }
    desk.join();
    CHECK_EQ(desk.order(), "Lxxx");

    Desk other;
    std::atomic<bool> began{false}, go{false};
    other.threads.emplace_back([&] {
        const Turns::Turn turn(other.turns, {.rows = 1000, .alone = true});
        began = true;
        while (!go) std::this_thread::yield();
        for (int i = 0; i < 3; ++i) other.done.push_back("L"), other.turns.pause(100);
    });
    while (!began) std::this_thread::yield();
    other.compute("s", {.rows = 10, .alone = true}, 1, 10);
    other.compute(".", {.is_short = true}, 1, 0);
    go = true;
    other.join();
    CHECK_EQ(other.order(), "L.LLs");
}

TEST(of_those_that_a_device_lets_in_one_by_one_none_waits_for_the_next_to_end) {
    Desk desk;
    {
        const Turns::Turn turn(desk.turns, {.rows = 100, .alone = true});
        desk.compute("x", {.rows = 100, .alone = true}, 1, 100);
        CHECK(!desk.turns.wait_for_others(nullptr));
        desk.compute("y", {.rows = 100}, 1, 100);  // this one can end
        CHECK(desk.turns.wait_for_others(nullptr));
        desk.done.push_back("a");
    }
    desk.join();
    CHECK_EQ(desk.order(), "yax");
}

TEST(a_request_that_is_stopped_while_it_waits_has_the_turn_before_all_prompts) {
    Desk desk;
    const std::atomic<bool> abort{true};
    {
        const Turns::Turn first(desk.turns, {.rows = 1});
        desk.compute("q", {.rows = 10}, 1, 10);
        desk.compute("s", {.priority = Turns::kBackground, .rows = 1e6, .abort = &abort}, 1, 0);
        std::this_thread::sleep_for(std::chrono::milliseconds(60));
    }
    desk.join();
    CHECK_EQ(desk.order(), "sq");
}

TEST(a_short_turn_that_computes_a_prompt_gives_way_as_prompts_do) {
    Desk desk;
    {
        const Turns::Turn turn(desk.turns, {.is_short = true});
        {
            const Turns::AsPrompt as_prompt(desk.turns, 1000);
            desk.compute("q", {.rows = 10}, 1, 10);
            desk.done.push_back("r"), desk.turns.pause(10);
            desk.done.push_back("r");
        }
        desk.compute("p", {.rows = 10}, 1, 10);
        desk.turns.pause(10);
        desk.done.push_back("s");
    }
    desk.join();
    CHECK_EQ(desk.order(), "rqrsp");
}

TEST(memory_that_is_free_is_for_who_waited_for_it_first) {
    Desk desk;
    std::vector<bool> spoken;
    std::atomic<bool> waits{false};
    {
        const Turns::Turn first(desk.turns, {.rows = 1});
        desk.threads.emplace_back([&] {
            waits = true;
            const Turns::Turn early(desk.turns, {.rows = 10});
            desk.turns.wait_for_others(nullptr);
            desk.done.push_back("e");
            desk.turns.has_memory();
        });
        while (!waits) std::this_thread::yield();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        desk.threads.emplace_back([&] {
            const Turns::Turn late(desk.turns, {.rows = 1000});
            spoken.push_back(desk.turns.memory_is_spoken_for());
            while (desk.turns.memory_is_spoken_for() && desk.turns.wait_for_others(nullptr)) {}
            desk.done.push_back("l");
            spoken.push_back(desk.turns.memory_is_spoken_for());
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        desk.turns.away([] { std::this_thread::sleep_for(std::chrono::milliseconds(60)); });
        CHECK(!desk.turns.memory_is_spoken_for());  // this one came before
    }
    desk.join();
    CHECK_EQ(desk.order(), "el");
    CHECK(spoken == std::vector<bool>({true, false}));
}

TEST(tokens_of_many_answers_are_computed_in_one_step) {
    Desk desk;
    {
        const Turns::Turn first(desk.turns, {.rows = 1});
        for (int i = 0; i < 20; ++i) {
            std::atomic<bool> waits{false};
            desk.threads.emplace_back([&] {
                waits = true;
                const Turns::Turn turn(desk.turns, {.is_short = true});
                std::vector<float> logits;
                for (int t = 0; t < 3; ++t) desk.turns.decode({0, 0, nullptr, &logits}, nullptr);
            });
            while (!waits) std::this_thread::yield();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    desk.join();
    size_t rows = 0;
    for (size_t n : desk.steps) {
        rows += n;
        CHECK(n <= size_t(Turns::kMostRows));
    }
    CHECK_EQ(rows, size_t(60));
    CHECK(desk.steps.size() <= 6);
    CHECK_EQ(desk.turns.figures().rows, 60);
}

TEST(a_step_that_fails_fails_for_all_of_its_rows_and_an_abort_for_its_own) {
    Turns turns([](const std::vector<DecodeRow> &, const std::atomic<bool> *) { throw Error("OUT_OF_MEMORY", ""); });
    std::atomic<int> failed{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            const Turns::Turn turn(turns, {.is_short = true});
            std::vector<float> logits;
            failed += error_code([&] { turns.decode({0, 0, nullptr, &logits}, nullptr); }) == "OUT_OF_MEMORY";
        });
    }
    for (std::thread & t : threads) t.join();
    CHECK_EQ(failed.load(), 4);

    Turns fine([](const std::vector<DecodeRow> &, const std::atomic<bool> *) {});
    const std::atomic<bool> abort{true};
    const Turns::Turn turn(fine, {.is_short = true});
    std::vector<float> logits;
    CHECK_EQ(error_code([&] { fine.decode({0, 0, nullptr, &logits}, &abort); }), "ABORTED");
}
