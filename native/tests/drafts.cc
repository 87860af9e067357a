// Drafts: what is guessed, when it is computed, and that an answer is the same with them, to the bit.
#include <random>

#include "engine/drafting/drafts.h"
#include "tests/fixtures.h"

using namespace kvasir;
using test::encode;
using test::ids;
using test::kFull;
using test::kNone;
using test::tiny;

namespace {

using Tokens = std::vector<int32_t>;

// A text of few different tokens, so that every pair has occurred before.
Tokens repetitive(int n) {
    Tokens out;
    for (const int32_t id : ids(n)) out.push_back(3 + id % 7);
    return out;
}

struct Answer {
    Generated generated;
    std::vector<float> logits, kv;
};

std::vector<float> kv_of(const Session & session) {
    std::vector<float> all;
    for (int il = 0; il < session.cache().pool().layers(); ++il) {
        for (const auto & rows : {session.cache().keys(il, 0, session.length()),
                                  session.cache().values(il, 0, session.length())})
            all.insert(all.end(), rows.begin(), rows.end());
    }
    return all;
}

// An answer to blended passages, then a shorter beginning of it continued with another text and a second answer.
std::vector<Answer> conversation(const std::shared_ptr<Model> & m, Sampling sampling, Drafting drafting) {
    sampling.drafting = drafting;
    Session session(m, 512);
    session.append({{{1}}, {{}, encode(m, ids(90))}, {{}, encode(m, repetitive(80))}, {repetitive(30)}}, kNone, nullptr,
                   nullptr);
    std::vector<Answer> out;
    const auto answer = [&](int most) {
        Answer a{session.generate(most, sampling, nullptr, nullptr), session.logits(), kv_of(session)};
        out.push_back(std::move(a));
    };
    answer(90);
    session.truncate(session.length() - 5);
    session.append({{repetitive(20)}}, kFull, nullptr, nullptr);
    answer(40);
    return out;
}

// Returns the counts of all its drafts.
Generated same_with_drafts(const std::shared_ptr<Model> & m, const Sampling & sampling = {}) {
    const auto without = conversation(m, sampling, Drafting::off), with = conversation(m, sampling, Drafting::always);
    Generated counts;
    for (size_t i = 0; i < without.size(); ++i) {
        CHECK(with[i].generated.tokens == without[i].generated.tokens);
        CHECK(with[i].logits == without[i].logits);
        CHECK(with[i].kv == without[i].kv);
        CHECK_EQ(without[i].generated.drafted, 0);
        counts.drafted += with[i].generated.drafted, counts.accepted += with[i].generated.accepted;
    }
    CHECK(counts.drafted > counts.accepted);  // some were wrong
    return counts;
}

TokenLookup looked_up(const Tokens & text, const Tokens & added) {
    TokenLookup lookup(text);
    for (const int32_t token : added) lookup.add(token);
    return lookup;
}

// How much faster `answer` is written after `prompt` than without drafts, if each further row of a step takes the share
// `row` of a step.
double speed(const Tokens & prompt, const Tokens & answer, double row) {
    StepTimes times;
    for (int i = 0; i < 50; ++i)
        for (const int rows : {1, 2, 3, 5, 9, 16}) times.add(rows, 10 + 10 * row * (rows - 1));
    Drafts drafts(prompt, Drafting::measured);
    std::vector<float> logits;
    double time = 0;
    for (size_t i = 0; i < answer.size(); ++i) {
        if (drafts.take(answer[i], logits)) continue;
        std::vector<DecodeRow> rows{{answer[i], 0, nullptr, &logits}};
        drafts.add_rows(drafts.next(int(answer.size() - i) - 1, 1, times), rows);
        time += 1 + row * double(rows.size() - 1);
    }
    return double(answer.size()) / time;
}

// A session's drafts after it wrote some of a text that it holds.
Drafts quoting() {
    const Tokens text = ids(200);
    Drafts drafts(text, Drafting::measured);
    std::vector<float> logits;
    for (int i = 50; i < 70; ++i) drafts.take(text[size_t(i)], logits);
    return drafts;
}

}  // namespace

TEST(a_guess_follows_the_longest_earlier_occurrence_and_of_equal_ones_the_latest) {
    CHECK(looked_up({1, 2, 3, 4, 5, 9, 2, 3, 6, 7}, {1, 2, 3}).guess(3) == Tokens({4, 5, 9}));
    CHECK(looked_up({1, 2, 3, 4, 5, 9, 2, 3, 6, 7}, {8, 2, 3}).guess(2) == Tokens({6, 7}));
    CHECK_EQ(looked_up({1, 2, 3, 4, 5, 9, 2, 3, 6, 7}, {1, 2, 3}).matched(), 3);
    CHECK_EQ(looked_up({1, 2, 3, 4}, {1, 2, 3}).matched(), 3);  // grew with each right guess
}

TEST(there_is_no_guess_after_a_pair_of_tokens_that_did_not_occur_before) {
    CHECK(looked_up({1, 2, 3, 4}, {2}).guess(2).empty());
    CHECK(looked_up({1, 2, 3, 4}, {2, 4}).guess(2).empty());
    CHECK(looked_up({}, {5}).guess(2).empty());
    CHECK(looked_up({1, 2, 3}, {1, 2, 4}).guess(2).empty());  // after a wrong guess
}

TEST(a_guess_repeats_a_text_that_repeats_itself) {
    CHECK(looked_up({7, 1, 2}, {1, 2}).guess(5) == Tokens({1, 2, 1, 2, 1}));
    CHECK(looked_up({}, {4, 4, 4}).guess(3) == Tokens({4, 4, 4}));
}

TEST(drafts_are_computed_only_while_steps_with_them_are_expected_to_be_faster) {
    StepTimes flat, steep;
    for (int i = 0; i < 50; ++i) {
        for (int rows = 1; rows <= 16; ++rows) flat.add(rows, 10 + 0.2 * rows), steep.add(rows, 10 * rows);
    }
    const Drafts drafts = quoting();
    const Tokens text = ids(200);
    CHECK(drafts.next(100, 1, flat) == Tokens(text.begin() + 70, text.begin() + 85));
    CHECK(drafts.next(3, 1, flat).size() == 2);
    CHECK(drafts.next(100, 4, flat).size() == 2);  // a step has 16 rows
    CHECK(drafts.next(100, 16, flat).empty());
    CHECK(drafts.next(100, 1, steep).empty());
    // Some hundred single steps later they are tried again.
    for (int i = 0; i < 2000; ++i) steep.add(1, 10);
    CHECK(!drafts.next(100, 1, steep).empty());
}

TEST(answers_that_quote_take_fewer_steps_and_others_hardly_lose_time) {
    std::minstd_rand random(1);
    const auto noise = [&](int n, unsigned kinds) {
        Tokens out;
        for (int i = 0; i < n; ++i) out.push_back(int32_t(random() / 7 % kinds));
        return out;
    };
    const Tokens prompt = noise(1000, 500), quote(prompt.begin() + 200, prompt.begin() + 330);
    for (const double row : {0.05, 0.2, 0.4}) {
        CHECK(speed(prompt, quote, row) > 2);
        CHECK(speed(prompt, noise(130, 500), row) > 0.97);
        CHECK(speed(noise(1000, 7), noise(500, 7), row) > 0.97);  // every pair has occurred before
    }
    CHECK(speed(prompt, quote, 1) > 0.97);  // a row costs as much as a step
}

TEST(answers_with_drafts_are_the_same_for_every_architecture) {
    int accepted = 0;
    for (const std::string & arch : architecture_names()) accepted += same_with_drafts(tiny(arch)).accepted;
    CHECK(accepted > 0);
}

TEST(answers_with_drafts_are_the_same_for_every_weight_type) {
    for (const char * type : {"q8_0", "q4_K", "q6_K", "q5_K", "q4_0", "q4_1", "q5_0", "q5_1", "bf16", "f32"})
        same_with_drafts(tiny("gemma3", "--embd 256 --ff 512 --window 96 --type " + std::string(type)));
}

TEST(answers_with_drafts_are_the_same_on_a_device_with_masks) {
    for (KvDtype kv : {KvDtype::f16, KvDtype::q8_0}) same_with_drafts(tiny("qwen3", "--head-dim 32", {2, "cpu", kv}));
}

TEST(sampled_answers_with_drafts_are_the_same_for_the_same_seed) {
    const auto m = tiny("llama");
    int accepted = 0;
    for (uint32_t seed = 1; seed <= 4; ++seed) {
        accepted += same_with_drafts(m, {.temperature = 0.7f, .top_k = 3, .repeat_penalty = 1.05f, .seed = seed,
                                         .chances = 2}).accepted;
    }
    CHECK(accepted > 0);
}

TEST(drafts_take_no_memory_that_the_answer_does_not_need) {
    const auto m = tiny("llama");
    Session session(m, 512);
    session.append({{repetitive(30)}}, kFull, nullptr, nullptr);
    session.generate(30, {}, nullptr, nullptr);  // greedy, so it repeats itself soon
    const auto two_tokens = [&] {
        const auto on_token = [n = 0](const Sampled &) mutable { return ++n < 3; };
        return session.generate(30, {.drafting = Drafting::always}, nullptr, on_token);
    };
    m->kv_pool().set_budget(m->kv_pool().block_bytes());
    CHECK_EQ(two_tokens().drafted, 0);  // they would need a second block
    m->kv_pool().set_budget(100 * m->kv_pool().block_bytes());
    CHECK(two_tokens().drafted > 0);
    CHECK_EQ(session.length(), 64);
    CHECK_EQ(session.cache().block_table().size(), size_t(1));
}
