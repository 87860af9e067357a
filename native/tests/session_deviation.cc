// How far a blended session is from a full prefill, and properties that hold for every model.
#include <algorithm>
#include <cmath>

#include "engine/fusing/session_deviation.h"
#include "tests/fixtures.h"

using namespace kvasir;
using test::encode;
using test::ids;
using test::kFull;
using test::kNone;
using test::spread;
using test::tiny;

namespace {

// BOS, two chunks of 100, a question of 12: chunks are positions 1 … 200.
constexpr int kPrompt = 213, kSecond = 101, kQuestion = 201, kObserved = 8;
std::vector<Segment> prompt(const std::shared_ptr<Model> & m) {
    return {{{1}, nullptr}, {{}, encode(m, ids(100))}, {{}, encode(m, ids(100, 2))}, {ids(12, 3), nullptr}};
}

std::unique_ptr<Session> made(const std::shared_ptr<Model> & m, const std::vector<Segment> & s,
                              const StrategySpec & spec, int observe = kObserved) {
    auto session = std::make_unique<Session>(m, 512);
    session->append(s, spec, nullptr, nullptr, {}, observe);
    return session;
}

StrategySpec by_deviation(double r) { return {.name = "deviation", .check_layers = {1}, .ratios = {r}}; }
StrategySpec by_query(double r) { return {.name = "query", .ratios = {r}, .question_layers = {1, 2}}; }

double sum(const std::vector<float> & values, int layer, int begin, int end) {
    double s = 0;
    for (int i = begin; i < end; ++i) s += values[size_t(layer * kPrompt + i)];
    return s;
}

bool all_zero(const std::vector<float> & values) {
    return std::all_of(values.begin(), values.end(), [](float x) { return x == 0; });
}

}  // namespace

TEST(a_session_does_not_deviate_from_itself) {
    auto m = tiny("llama");
    const auto s = made(m, prompt(m), kNone);
    const SessionDeviation d = deviation(*s, *s, 0, kPrompt);
    CHECK_EQ(d.v.size(), size_t(4 * kPrompt));
    CHECK_EQ(d.attention.size(), size_t(4));
    CHECK(all_zero(d.v) && all_zero(d.k) && all_zero(d.attention));
}

TEST(ratio_one_does_not_deviate_from_full_prefill_by_a_bit) {
    for (const std::string & arch : architecture_names()) {
        auto m = tiny(arch);
        const auto s = prompt(m);
        const auto whole = made(m, s, kFull);
        for (const StrategySpec & spec : {by_deviation(1), by_query(1), spread(1)}) {
            const SessionDeviation d = deviation(*made(m, s, spec), *whole, 0, kPrompt);
            CHECK(all_zero(d.v) && all_zero(d.k) && all_zero(d.attention));
        }
    }
}

TEST(one_chunk_right_after_its_prefix_hardly_deviates) {
    for (const char * arch : {"llama", "qwen3"}) {
        auto m = tiny(arch);
        const std::vector<Segment> s{{{1}, nullptr}, {{}, encode(m, ids(100))}, {ids(12, 3), nullptr}};
        const SessionDeviation d = deviation(*made(m, s, kNone), *made(m, s, kFull), 0, 113);
        CHECK(*std::max_element(d.v.begin(), d.v.end()) < 1e-3f);
        CHECK(*std::max_element(d.k.begin(), d.k.end()) < 1e-2f);
        CHECK(*std::max_element(d.attention.begin(), d.attention.end()) < 1e-2f);
    }
}

TEST(only_tokens_after_a_chunk_boundary_deviate) {
    auto m = tiny("qwen2");
    const auto s = prompt(m);
    const auto reused = made(m, s, kNone), whole = made(m, s, kFull);
    const SessionDeviation d = deviation(*reused, *whole, 0, kPrompt);
    for (int il = 0; il < 4; ++il) {
        CHECK_EQ(sum(d.v, il, 0, 1), 0.0);  // everything before the first chunk saw nothing else
        CHECK(sum(d.v, il, 1, kSecond) < 0.1);
        if (il == 0) CHECK(sum(d.v, il, kSecond, kPrompt) < 0.1);  // the first layer's KV depends only on the token
        else CHECK(sum(d.v, il, kSecond, kQuestion) > 1);
    }
    // A subset of the tokens, with the sessions swapped.
    const SessionDeviation part = deviation(*whole, *reused, 150, 20);
    for (int il = 0; il < 4; ++il)
        for (int i = 0; i < 20; ++i) CHECK_EQ(part.k[size_t(il * 20 + i)], d.k[size_t(il * kPrompt + 150 + i)]);
}

TEST(attention_deviates_less_the_more_is_recomputed) {  // CacheBlend, figure 6
    for (const char * arch : {"llama", "qwen3"}) {
        auto m = tiny(arch);
        const auto s = prompt(m);
        const auto whole = made(m, s, kFull);
        double before = 2 * 4;
        for (const StrategySpec & spec : {kNone, by_deviation(0.3), by_deviation(0.7), by_deviation(1)}) {
            const SessionDeviation d = deviation(*made(m, s, spec), *whole, 0, kPrompt);
            double all = 0;
            for (float x : d.attention) {
                CHECK(x >= 0 && x <= std::sqrt(2.0f));
                all += x;
            }
            CHECK(all < before);
            before = all;
        }
        CHECK_EQ(before, 0.0);
    }
}

TEST(traced_attention_is_a_distribution_over_visible_tokens) {
    auto m = tiny("llama");
    for (const StrategySpec & spec : {kFull, kNone, by_deviation(0.2), by_query(0.2)}) {
        const auto session = made(m, prompt(m), spec);
        const AttentionTrace & t = session->trace();
        CHECK_EQ(t.observers, kObserved);
        CHECK_EQ(t.layers.size(), size_t(4));
        const size_t heads = size_t(m->hparams().n_head);
        for (const auto & layer : t.layers) {
            CHECK_EQ(layer.size(), heads * kObserved * kPrompt);
            for (size_t row = 0; row < heads * kObserved; ++row) {
                const size_t visible = kPrompt - kObserved + row % kObserved + 1;
                double all = 0;
                for (size_t i = 0; i < kPrompt; ++i) {
                    if (i >= visible) CHECK_EQ(layer[row * kPrompt + i], 0.0f);
                    all += layer[row * kPrompt + i];
                }
                CHECK(std::fabs(all - 1) < 1e-4);
            }
        }
    }
}

TEST(observing_changes_no_result) {
    auto m = tiny("qwen2");
    const auto s = prompt(m);
    for (const StrategySpec & spec : {kFull, kNone, by_deviation(0.2), by_query(0.2)}) {
        const auto plain = made(m, s, spec, 0), observed = made(m, s, spec);
        CHECK(plain->logits() == observed->logits());
        const SessionDeviation d = deviation(*plain, *observed, 0, kPrompt);
        CHECK(all_zero(d.v) && all_zero(d.k));
        CHECK(d.attention.empty());
    }
}

TEST(sessions_that_cannot_be_compared_are_refused) {
    auto m = tiny("llama"), other = tiny("qwen2");
    const auto s = made(m, prompt(m), kNone);
    const auto refused = [&](const Session & b, int begin, int count) {
        try {
            deviation(*s, b, begin, count);
        } catch (const std::logic_error &) {
            return true;
        }
        return false;
    };
    CHECK(refused(*made(other, prompt(other), kNone), 0, 10));
    CHECK(refused(*s, 0, kPrompt + 1));
    CHECK(refused(*s, -1, 10));
    CHECK(refused(*s, 0, 0));
    CHECK(refused(*made(m, prompt(m), kNone, 4), 0, kPrompt));
    // Tokens of a chunk cannot be observed.
    bool thrown = false;
    try {
        made(m, prompt(m), kNone, 13);
    } catch (const std::logic_error &) {
        thrown = true;
    }
    CHECK(thrown);
}
