// One test per bug that was published for another implementation of blending and that would be in the engine. Names say
// what must not happen here, comments where it happened. Tests outside the engine: src-main/fusion/fusion.test.ts (the
// first miss), src-main/kvstore/{hash,prefixes}.test.ts (keys, floods), src-main/fusion/calibration/ (models that
// degrade under blending), src-main/fusion/planning/ (storage that is slower than computing).
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

StrategySpec by_deviation(double r, DeviationOf of = DeviationOf::v) {
    return {.name = "deviation", .check_layers = {1}, .ratios = {r}, .of = of};
}
StrategySpec by_query(double r) { return {.name = "query", .ratios = {r}, .question_layers = {0, 1, 2, 3}}; }

std::unique_ptr<Session> empty(const std::shared_ptr<Model> & m) {
    auto session = std::make_unique<Session>(m, 1024);
    return session;
}

std::unique_ptr<Session> made(const std::shared_ptr<Model> & m, const std::vector<Segment> & s,
                              const StrategySpec & spec) {
    auto session = empty(m);
    session->append(s, spec, nullptr, nullptr, {}, 8);
    return session;
}

double total(const std::vector<float> & values) {
    double sum = 0;
    for (float x : values) sum += x;
    return sum;
}

}  // namespace

// CacheBlend#21, LMCache#1152: a mask aligned to the bottom right of selected rows lets a row see keys after its
// position.
TEST(a_selected_row_does_not_see_later_tokens) {
    auto m = tiny("llama");
    const auto a = encode(m, ids(100));
    const auto before_second = [&](const std::vector<int32_t> & second) {
        const auto session =
            made(m, {{{1}, nullptr}, {{}, a}, {{}, encode(m, second)}, {ids(12, 3), nullptr}}, spread(0.3));
        std::vector<std::vector<float>> kv;
        for (int il = 0; il < 4; ++il) {
            kv.push_back(session->cache().keys(il, 0, 101)), kv.push_back(session->cache().values(il, 0, 101));
        }
        return std::pair(kv, session->logits());
    };
    const auto one = before_second(ids(100, 2)), other = before_second(ids(100, 9));
    CHECK(one.first == other.first);
    CHECK(one.second != other.second);
}

// Another implementation took the length of the text after the chunks as 1, so the question kept keys and values of an
// earlier one.
TEST(every_token_of_the_question_is_recomputed) {
    auto m = tiny("qwen2");
    const auto a = encode(m, ids(100)), b = encode(m, ids(100, 2));
    const auto prompt = [&](int seed) {
        return std::vector<Segment>{{{1}, nullptr}, {{}, a}, {{}, b}, {ids(40, seed), nullptr}};
    };
    for (const StrategySpec & spec : {kNone, by_deviation(0.15), by_query(0.15), spread(0.15)}) {
        const auto fresh = made(m, prompt(3), spec);
        auto used = made(m, prompt(7), spec);  // another question was asked here before
        used->truncate(0);
        const AppendReport report = used->append(prompt(3), spec, nullptr, nullptr);
        CHECK(used->logits() == fresh->logits());
        CHECK_EQ(total(deviation(*used, *fresh, 0, 241).k), 0.0);
        for (const LayerReport & layer : report.layers) CHECK(layer.rows >= 41 || layer.layer == 3);
    }
}

// LMCache-Ascend#277: with a prefix in the cache, indices of selected tokens were off by its length, and quality fell
// as the ratio rose.
TEST(quality_rises_with_the_ratio_after_a_cached_prefix) {
    for (const char * arch : {"llama", "qwen3"}) {
        auto m = tiny(arch);
        const std::vector<Segment> prefix{{ids(37, 5), nullptr}};
        const std::vector<Segment> rest{{{}, encode(m, ids(120))}, {{}, encode(m, ids(80, 2))}, {ids(12, 3), nullptr}};
        const auto behind = [&](const StrategySpec & spec) {
            auto session = empty(m);
            session->append(prefix, kFull, nullptr, nullptr);
            session->append(rest, spec, nullptr, nullptr, {}, 8);
            return session;
        };
        const auto whole = behind(kFull);
        for (const auto & strategy : {by_deviation, +[](double r, DeviationOf) { return by_query(r); }}) {
            double v = INFINITY, attention = INFINITY;
            for (double ratio : {0.0, 0.2, 0.5, 1.0}) {
                const SessionDeviation d =
                    deviation(*behind(strategy(ratio, DeviationOf::v)), *whole, 0, 37 + 200 + 12);
                CHECK(total(d.v) < v);
                CHECK(total(d.attention) < attention);
                v = total(d.v), attention = total(d.attention);
            }
            CHECK_EQ(v, 0.0);
            CHECK_EQ(attention, 0.0);
        }
    }
}

// Models that normalise queries and keys need the deviation after the norm; with grouped queries it is the sum over KV
// heads. A check must measure the distance between the stored KV and that of a full prefill.
TEST(a_check_measures_the_distance_between_stored_and_full) {
    for (const std::string & arch : architecture_names()) {
        auto m = tiny(arch);
        const std::vector<Segment> s{
            {{1}, nullptr}, {{}, encode(m, ids(100))}, {{}, encode(m, ids(100, 2))}, {ids(12, 3), nullptr}};
        const SessionDeviation d = deviation(*made(m, s, kNone), *made(m, s, kFull), 0, 213);
        for (DeviationOf of : {DeviationOf::v, DeviationOf::k}) {
            auto session = empty(m);
            const CheckReport check = session->append(s, by_deviation(0.1, of), nullptr, nullptr).checks.at(0);
            const std::vector<float> & distances = of == DeviationOf::v ? d.v : d.k;
            CHECK_EQ(check.candidates.size(), size_t(200));
            for (size_t i = 100; i < 200; ++i) {  // the second chunk: the first hardly deviates
                const double want = distances[213 + size_t(check.candidates[i])];
                CHECK(std::fabs(check.deviation[i] - want) < 0.02 * want);
            }
        }
    }
}

// Rotating stored keys a second time (with YaRN: scaling them twice), or by a difference of positions, which
// llama.cpp#25133 found to differ from a fresh rotation. The first layer's keys depend only on token and position, so
// they must equal the full prefill's wherever the chunk is placed.
TEST(keys_are_rotated_once_to_their_position) {
    for (const char * rope : {"none", "linear", "yarn", "llama3"}) {
        auto m = tiny("llama", std::string("--rope ") + rope);
        const auto chunk = encode(m, ids(64));
        for (int before : {1, 90, 700}) {
            const std::vector<Segment> s{{ids(before, 5), nullptr}, {{}, chunk}, {ids(12, 3), nullptr}};
            const auto reused = made(m, s, kNone), whole = made(m, s, kFull);
            const std::vector<float> a = reused->cache().keys(0, before, 64), b = whole->cache().keys(0, before, 64);
            double apart = 0, size = 0;
            for (size_t i = 0; i < a.size(); ++i) apart += std::pow(a[i] - b[i], 2), size += std::pow(b[i], 2);
            if (!(std::sqrt(apart / size) < 1e-3)) {
                test::fail(__FILE__, __LINE__, std::string(rope) + " at " + std::to_string(before));
            }
        }
    }
}

// Storing a chunk's blended KV as if it were the chunk's own: results would depend on earlier requests.
TEST(blending_leaves_the_stored_chunk_unchanged) {
    auto m = tiny("qwen3");
    const auto a = encode(m, ids(100)), b = encode(m, ids(100, 2));
    const auto bytes = [&](const std::shared_ptr<ChunkKv> & c, int il) {
        return std::vector<uint8_t>(c->layer(il), c->layer(il) + c->shape().row_bytes(il) * 200);
    };
    std::vector<std::vector<uint8_t>> before;
    for (int il = 0; il < 4; ++il) before.push_back(bytes(b, il));
    for (const StrategySpec & spec : {kNone, by_deviation(0.5), by_query(0.5), spread(0.5)}) {
        made(m, {{{1}, nullptr}, {{}, a}, {{}, b}, {ids(12, 3), nullptr}}, spec);
    }
    for (int il = 0; il < 4; ++il) CHECK(bytes(b, il) == before[size_t(il)]);
}

// LMCache#835: nothing after the first miss was reused.
TEST(a_miss_does_not_end_reuse) {
    auto m = tiny("llama");
    auto session = empty(m);
    const AppendReport report = session->append({{{1}, nullptr},
                                                 {{}, encode(m, ids(50))},
                                                 {ids(50, 2), nullptr},
                                                 {{}, encode(m, ids(50, 4))},
                                                 {ids(12, 3), nullptr}},
                                                kNone, nullptr, nullptr);
    CHECK_EQ(report.reusable_tokens, 100);
    CHECK_EQ(report.layers.at(1).rows, 1 + 50 + 12);
}
