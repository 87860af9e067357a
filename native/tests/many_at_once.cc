// Concurrent requests on one model: the same numbers as one at a time, within the available memory.
#include <atomic>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "engine/error.h"
#include "engine/scheduling/scheduler.h"
#include "tests/fixtures.h"

using namespace kvasir;
using test::encode;
using test::ids;
using test::kFull;
using test::kNone;
using test::tiny;
using test::error_code;

namespace {

// The result of a request: its text and the logits after it.
struct Answer {
    std::vector<int32_t> tokens;
    std::vector<float> prompt_logits, logits;
};

struct Asked {
    std::vector<Segment> segments;
    StrategySpec strategy;
    int max_tokens;
    Drafting drafting = Drafting::off;
};

Answer answer(const std::shared_ptr<Model> & m, const Asked & asked,
              const std::function<void()> & appended = [] {}) {
    Session session(m, 2048);
    Answer a;
    session.append(asked.segments, asked.strategy, nullptr, nullptr);
    a.prompt_logits = session.logits();
    appended();
    a.tokens = session.generate(asked.max_tokens, {.drafting = asked.drafting}, nullptr, nullptr).tokens;
    a.logits = session.logits();
    return a;
}

// Runs all concurrently, each on its own thread, as the addon does.
std::vector<Answer> answers(const std::shared_ptr<Model> & m, const std::vector<Asked> & all) {
    std::vector<Answer> out(all.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < all.size(); ++i) {
        threads.emplace_back([&, i] {
            const Turn turn(*m->scheduler(), {.rows = 100});
            out[i] = answer(m, all[i]);
        });
    }
    for (std::thread & t : threads) t.join();
    return out;
}

// Two answers that share decode steps from their second token on; the first could be asked to release its memory
// earlier. `prompted`: called once the younger's prompt is computed. `at_token`: called by both, n counts from 1.
std::pair<Answer, Answer> two_answers(const std::shared_ptr<Model> & m, const Asked & older, const Asked & younger,
                                   const std::function<void()> & prompted = {},
                                   const std::function<void(int n, bool is_older)> & at_token = {}) {
    std::pair<Answer, Answer> out;
    std::atomic<bool> older_writes{false}, younger_writes{false};
    const auto until = [&](const std::atomic<bool> & flag) {
        m->scheduler()->away([&] { while (!flag) std::this_thread::yield(); });
    };
    const auto write = [&](Session & session, const Asked & asked, bool is_older) {
        Answer a;
        const auto on_token = [&, n = 0](const Sampled &) mutable {
            if (++n == 2) (is_older ? older_writes : younger_writes) = true;
            if (n == 2 && is_older) until(younger_writes);
            if (at_token) at_token(n, is_older);
            return true;
        };
        a.tokens = session.generate(asked.max_tokens, {.drafting = asked.drafting}, nullptr, on_token).tokens;
        a.logits = session.logits();
        return a;
    };
    std::thread thread;
    {
        const Turn turn(*m->scheduler(), {.rows = 100});
        Session session(m, 2048);
        session.append(younger.segments, younger.strategy, nullptr, nullptr);
        if (prompted) prompted();
        thread = std::thread([&] {
            const Turn its(*m->scheduler(), {.rows = 100});
            Session first(m, 2048);
            first.append(older.segments, older.strategy, nullptr, nullptr);
            out.first = write(first, older, true);
        });
        until(older_writes);
        out.second = write(session, younger, false);
    }
    thread.join();
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

std::vector<Asked> some_with_drafts(std::vector<Asked> all) {
    for (size_t i = 0; i < all.size(); i += 2) all[i].drafting = Drafting::always;
    return all;
}

void same_as_alone(const std::shared_ptr<Model> & m) {
    const std::vector<Asked> all = several(m);
    std::vector<Answer> alone;
    for (const Asked & asked : all) alone.push_back(answer(m, asked));
    const DecodeBatch & batch = m->scheduler()->batch();
    const int64_t steps = batch.steps(), sequences = batch.sequences();
    const std::vector<Answer> together = answers(m, some_with_drafts(all));
    for (size_t i = 0; i < all.size(); ++i) {
        CHECK(together[i].prompt_logits == alone[i].prompt_logits);
        CHECK(together[i].tokens == alone[i].tokens);
        CHECK(together[i].logits == alone[i].logits);
    }
    // They did decode together; otherwise this test proves nothing.
    CHECK(batch.sequences() - sequences > 2 * (batch.steps() - steps));
}

}  // namespace

TEST(a_first_token_does_not_wait_for_other_requests) {
    const auto m = tiny("llama");
    Session session(m, 512);
    session.append({{ids(40)}}, kFull, nullptr, nullptr);
    std::promise<void> first;
    std::optional<Turn> other(std::in_place, *m->scheduler(), Turn::Request{.rows = 100});
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
    CHECK_EQ(tokens.load(), 1);  // the second token is computed in turn
    other.reset();
    asks.join();
    CHECK_EQ(tokens.load(), 3);
}

TEST(concurrent_requests_equal_separate_ones_bit_for_bit) {
    for (const std::string & arch : architecture_names()) same_as_alone(tiny(arch));
}

TEST(concurrent_requests_equal_separate_ones_for_every_weight_type) {
    for (const char * type : {"q8_0", "q4_K", "q6_K", "q5_K", "q4_0", "q4_1", "q5_0", "q5_1", "bf16", "f32"}) {
        same_as_alone(tiny("qwen3", "--embd 256 --ff 512 --type " + std::string(type)));
    }
}

TEST(concurrent_requests_equal_separate_ones_on_a_device_with_masks) {
    for (KvDtype kv : {KvDtype::f16, KvDtype::q8_0}) same_as_alone(tiny("qwen3", "--head-dim 32", {2, "cpu", kv}));
}

TEST(answers_that_lose_their_memory_are_recomputed_identically) {
    auto m = tiny("qwen3");
    const std::vector<Asked> all = several(m);
    std::vector<Answer> alone;
    for (const Asked & asked : all) alone.push_back(answer(m, asked));
    // Room for two or three of the six: they take five to seven blocks each.
    m->kv_pool().set_budget(15 * m->kv_pool().block_bytes());
    const auto same = [&](const std::vector<Answer> & together) {
        for (size_t i = 0; i < all.size(); ++i) {
            CHECK(together[i].tokens == alone[i].tokens);
            CHECK(together[i].logits == alone[i].logits);
        }
    };
    same(answers(m, all));
    CHECK(m->scheduler()->memory().taken_back() > 0);
    same(answers(m, some_with_drafts(all)));
    CHECK(m->kv_pool().blocks().size() <= 15 + 7);  // a single request gets what it needs
}

TEST(an_answer_is_recomputed_even_if_its_chunks_were_evicted) {
    auto m = tiny("qwen3");
    const Asked asked = several(m)[1];
    const Answer alone = answer(m, asked);
    Asked from_files = asked;
    for (Segment & segment : from_files.segments) {
        if (!segment.chunk) continue;
        const std::string path = test::scratch("evicted-" + std::to_string(segment.chunk->n_tokens()));
        segment.chunk->save(path);
        segment.chunk = std::make_shared<ChunkKv>(path);
    }
    // Both prompts' blocks; one more is needed at the longer answer's 31st token.
    m->kv_pool().set_budget(10 * m->kv_pool().block_bytes());
    const auto evict = [&] {
        for (const Segment & segment : from_files.segments)
            if (segment.chunk) std::filesystem::remove(segment.chunk->path());
    };
    const auto [longer, again] = two_answers(m, {{{ids(290, 2), nullptr}}, kFull, 200}, from_files, evict);
    CHECK(m->scheduler()->memory().taken_back() > 0);
    CHECK(again.tokens == alone.tokens);
    CHECK(again.logits == alone.logits);
    CHECK_EQ(longer.tokens.size(), size_t(200));
}

TEST(an_answer_that_released_its_memory_waits_until_there_is_enough_to_continue) {
    auto m = tiny("qwen3");
    const Asked older{{{ids(290, 2), nullptr}}, kFull, 230}, younger{{{ids(40), nullptr}}, kFull, 200};
    const Answer younger_alone = answer(m, younger);
    // The older one grows from five blocks to nine, the younger from one to four.
    m->kv_pool().set_budget(9 * m->kv_pool().block_bytes());
    const auto [first, second] = two_answers(m, older, younger);
    CHECK(second.tokens == younger_alone.tokens);
    CHECK(second.logits == younger_alone.logits);
    CHECK_EQ(m->scheduler()->memory().taken_back(), int64_t(1));
}

// A cached decode graph for several answers survives while a prompt is computed.
TEST(answers_continue_bit_for_bit_after_a_prompt_with_larger_attention_memory) {
    auto m = tiny("qwen3", "--heads 64 --kv-heads 1 --head-dim 128");
    m->kv_pool().ensure_free(64);  // so that it does not grow, which would rebuild the graph
    const Asked a{{{ids(40), nullptr}}, kFull, 150}, b{{{ids(60, 2), nullptr}}, kFull, 150};
    const Answer a_alone = answer(m, a), b_alone = answer(m, b);
    int64_t generation = 0;
    using Memory = std::vector<std::vector<float>>;
    const Memory sevens(64, std::vector<float>(8000, 7.0f));
    Memory others[2];  // allocations that may reuse freed memory
    std::thread asks;
    std::atomic<bool> asked{false};
    const auto at_token = [&](int n, bool is_older) {
        if (asked && others[is_older].empty()) others[is_older] = sevens;
        if (n != 5 || !is_older) return;
        generation = m->kv_pool().generation();
        asks = std::thread([&] {
            const Turn its(*m->scheduler(), {.rows = 1500});
            Session session(m, 2048);
            session.append({{ids(1500, 3), nullptr}}, kFull, nullptr, nullptr);
            asked = true;
        });
    };
    const auto [first, second] = two_answers(m, a, b, {}, at_token);
    asks.join();
    CHECK_EQ(m->kv_pool().generation(), generation);
    CHECK(others[0] == sevens && others[1] == sevens);
    CHECK(first.tokens == a_alone.tokens && first.logits == a_alone.logits);
    CHECK(second.tokens == b_alone.tokens && second.logits == b_alone.logits);
}

TEST(a_persons_prompt_takes_the_memory_of_a_programs_answer_which_is_recomputed) {
    auto m = tiny("qwen3");
    const Asked program{{{ids(290, 2), nullptr}}, kFull, 60}, person = several(m)[1];
    const Answer program_alone = answer(m, program), person_alone = answer(m, person);
    m->kv_pool().set_budget(8 * m->kv_pool().block_bytes());  // fits either of them, not both
    std::atomic<bool> writes{false}, asks{false};
    std::vector<std::string> ended;
    std::thread behind([&] {
        const Turn turn(*m->scheduler(), {.priority = 1, .rows = 100});
        Session session(m, 2048);
        session.append(program.segments, program.strategy, nullptr, nullptr);
        int tokens = 0;
        const auto on_token = [&](const Sampled &) {
            if (++tokens != 2) return true;
            writes = true;
            m->scheduler()->away([&] { while (!asks) std::this_thread::yield(); });
            return true;
        };
        CHECK(session.generate(program.max_tokens, {}, nullptr, on_token).tokens == program_alone.tokens);
        CHECK(session.logits() == program_alone.logits);
        ended.push_back("program");
    });
    while (!writes) std::this_thread::yield();
    {
        const Turn turn(*m->scheduler(), {.rows = 100});
        asks = true;
        const Answer a = answer(m, person);
        CHECK(a.tokens == person_alone.tokens);
        CHECK(a.logits == person_alone.logits);
        ended.push_back("person");
    }
    behind.join();
    CHECK(ended == std::vector<std::string>({"person", "program"}));
    CHECK(m->scheduler()->memory().taken_back() > 0);
}

TEST(a_prompt_waits_for_a_finished_session_to_be_freed_instead_of_taking_more) {
    auto m = tiny("qwen3");
    const int budget = 6;
    m->kv_pool().set_budget(budget * m->kv_pool().block_bytes());
    auto done = std::make_shared<Session>(m, 512);
    std::thread asks, frees;
    {
        const Turn turn(*m->scheduler(), {.rows = 1});
        done->append({{ids(300), nullptr}}, kFull, nullptr, nullptr);
        asks = std::thread([&] {
            const Turn its(*m->scheduler(), {.rows = 1});
            Session session(m, 512);
            session.append({{ids(200, 3), nullptr}}, kFull, nullptr, nullptr);
        });
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        m->scheduler()->away([] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); });  // waits for memory
        frees = std::thread([&] {  // as the caller would: later, in a separate turn
            std::this_thread::sleep_for(std::chrono::milliseconds(60));
            const Turn its(*m->scheduler(), {.is_short = true});
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
        const Turn other(*m->scheduler(), {.rows = 1e6});  // ends only once `done` is set
        asks = std::thread([&] {
            const Turn turn(*m->scheduler(), {.rows = 1});
            session.append({{ids(100), nullptr}}, kFull, nullptr, nullptr);
            done = true;
        });
        for (int i = 0; i < 2000 && !done; ++i) {
            m->scheduler()->pause(1);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        CHECK(done.load());
    }
    asks.join();
}

TEST(a_prompt_that_waits_for_memory_can_be_aborted_while_others_run) {
    auto m = tiny("qwen3");
    m->kv_pool().set_budget(2 * m->kv_pool().block_bytes());
    std::atomic<bool> abort{false}, stopped{false}, in_time{false};
    std::string code;
    std::vector<std::thread> threads;
    {
        const Turn first(*m->scheduler(), {.rows = 1});
        threads.emplace_back([&] {
            const Turn turn(*m->scheduler(), {.rows = 1});
            Session session(m, 512);
            code = error_code([&] { session.append({{ids(300), nullptr}}, kFull, &abort, nullptr); });
            stopped = true;
        });
        threads.emplace_back([&] {  // runs until the prompt is aborted, or long enough
            const Turn turn(*m->scheduler(), {.rows = 1e6});
            abort = true;
            for (int i = 0; i < 2000 && !stopped; ++i) {
                m->scheduler()->pause(1);
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

TEST(an_interrupted_prompt_gives_the_same_result_and_the_short_one_ends_first) {
    auto m = tiny("qwen3");
    const std::vector<Asked> all = several(m);
    const Answer long_alone = answer(m, all[1]), short_alone = answer(m, all[2]);
    Answer in_between;
    std::thread other;
    Session session(m, 2048);
    std::vector<std::string> ended;
    {
        const Turn turn(*m->scheduler(), {.rows = 1e6});
        session.append(all[1].segments, all[1].strategy, nullptr, [&](Progress) {
            if (other.joinable()) return;
            other = std::thread([&] {
                const Turn its(*m->scheduler(), {.rows = 10});
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
    CHECK(m->scheduler()->pauses() > 0);
}
