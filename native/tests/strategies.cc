// Every strategy through the engine's interface: identities, selections, masks by position.
#include <cmath>
#include <numeric>

#include "tests/fixtures.h"

using namespace kvasir;
using test::append;
using test::apart;
using test::encode;
using test::ids;
using test::kFull;
using test::kNone;
using test::Result;
using test::tiny;

namespace {

// BOS, two chunks of 100, a question of 12: positions 1 … 200 are reusable.
std::vector<Segment> prompt(const std::shared_ptr<Model> & m, const std::vector<int32_t> & question = ids(12, 3)) {
    return {{{1}, nullptr}, {{}, encode(m, ids(100))}, {{}, encode(m, ids(100, 2))}, {question, nullptr}};
}

StrategySpec deviation(double r, DeviationOf of = DeviationOf::v) {
    return {.name = "deviation", .check_layers = {1}, .ratios = {r}, .of = of};
}
StrategySpec query(double r, std::vector<int> layers = {0, 1, 2, 3}) {
    return {.name = "query", .ratios = {r}, .question_layers = layers};
}
StrategySpec adaptive(StrategySpec s, double cover, double least = 0, double most = 1) {
    s.ratios.clear();
    s.adaptive = {0, cover, least, most};
    return s;
}

std::vector<StrategySpec> selective(double r) {
    return {deviation(r), deviation(r, DeviationOf::k), deviation(r, DeviationOf::kv), query(r), query(r, {2})};
}

std::string label(const StrategySpec & s) {
    return s.name + std::to_string(int(s.of)) + std::to_string(s.question_layers.size());
}

}  // namespace

TEST(given_tokens_are_computed_as_if_a_strategy_had_chosen_them) {
    auto m = tiny("qwen3");
    const auto s = prompt(m);
    for (const StrategySpec & spec : {deviation(0.3), query(0.25)}) {
        const Result chosen = append(m, s, spec);
        const Result given =
            append(m, s, {.name = "given", .check_layers = spec.check_layers, .tokens = chosen.report.selected});
        CHECK(given.logits == chosen.logits);
        CHECK(given.report.selected == chosen.report.selected);
    }
    // Tokens that cannot be chosen have no effect.
    CHECK(append(m, s, {.name = "given", .tokens = {0, 205, 5000}}).logits == append(m, s, kNone).logits);
}

TEST(stored_tokens_take_over_a_share_of_what_changed_around_them) {
    for (const std::string flags : {"", "--rope yarn"}) {
        auto m = tiny("llama", flags);
        const std::vector<Segment> s = prompt(m);
        const StrategySpec some{.name = "given", .tokens = {10, 20, 30, 150, 160}};
        StrategySpec shifted = some;
        shifted.shift = 0.5;
        Session none(m, 512), plain(m, 512), moved(m, 512);
        none.append(s, kNone, nullptr, nullptr);
        plain.append(s, some, nullptr, nullptr);
        moved.append(s, shifted, nullptr, nullptr);
        const auto kv_dim = size_t(m->hparams().layer(0).kv_dim());
        for (int il : {1, 3}) {
            const auto values = [&](const Session & of) { return of.cache().values(il, 0, 213); };
            const auto stored = values(none), now = values(moved);
            // The change of the recomputed rows in the shifted session, computed by hand.
            const auto change = [&](int32_t t, size_t d) {
                return double(now[size_t(t) * kv_dim + d]) - stored[size_t(t) * kv_dim + d];
            };
            double worst = 0, most = 0;
            for (int32_t t = 1; t <= 200; ++t) {
                if (std::find(some.tokens.begin(), some.tokens.end(), t) != some.tokens.end()) continue;
                for (size_t d = 0; d < kv_dim; ++d) {
                    double mean = 0, near = 0, weight = 0.2;
                    for (int32_t other : some.tokens) mean += change(other, d) / 5;
                    for (int32_t other : some.tokens) {
                        const double w = std::pow(0.37, std::abs(t / 64 - other / 64));
                        near += w * change(other, d), weight += w;
                    }
                    const double by = 0.5 * (near + 0.2 * mean) / weight;
                    worst = std::max(worst, std::fabs(change(t, d) - by));
                    most = std::max(most, std::fabs(by));
                }
            }
            CHECK(most > 1e-3);
            CHECK(worst < 2e-3);
        }
        // Keys are moved at their rotation: turned back, each stored one moves as its neighbour in the same block does.
        const RopeParams & rope = m->hparams().ropes.at(0);
        std::vector<float> turn(size_t(rope.n_rot));
        const auto k0 = none.cache().keys(2, 0, 213), k1 = moved.cache().keys(2, 0, 213);
        const auto moved_by = [&](int t) {  // of the first pair of the first head, rotated back
            rope_row(rope, t, turn.data());
            const size_t at = size_t(t) * kv_dim;
            const float x = k1[at] - k0[at], y = k1[at + 1] - k0[at + 1];
            return std::pair(x * turn[0] + y * turn[1], y * turn[0] - x * turn[1]);
        };
        CHECK(std::hypot(moved_by(40).first, moved_by(40).second) > 1e-3);
        for (int t : {41, 60, 63}) {
            CHECK(std::fabs(moved_by(t).first - moved_by(40).first) < 5e-3);
            CHECK(std::fabs(moved_by(t).second - moved_by(40).second) < 5e-3);
        }
        CHECK(append(m, s, shifted).logits != append(m, s, some).logits);
        // Without stored tokens nothing is shifted.
        StrategySpec all = query(1);
        all.shift = 0.5;
        CHECK(append(m, s, all).logits == append(m, s, kFull).logits);
    }
    StrategySpec wrong = query(0.1);
    wrong.shift = 1.5;
    bool refused = false;
    try {
        append(tiny("llama"), prompt(tiny("llama")), wrong);
    } catch (const std::logic_error &) {
        refused = true;
    }
    CHECK(refused);
}

TEST(ratio_one_of_every_strategy_is_full_prefill_bit_for_bit) {
    for (const std::string & arch : architecture_names()) {
        auto m = tiny(arch);
        const auto s = prompt(m);
        const Result whole = append(m, s, kFull);
        for (const StrategySpec & spec : selective(1)) {
            const Result r = append(m, s, spec);
            if (r.logits != whole.logits) test::fail(__FILE__, __LINE__, label(spec) + " on " + arch);
            CHECK_EQ(r.report.recomputed_tokens, 200);
        }
        // A chunk at the very end: its last token is always computed.
        const std::vector<Segment> ends{s[0], s[1], s[2]};
        const Result end = append(m, ends, kFull);
        for (const StrategySpec & spec : selective(1)) CHECK(append(m, ends, spec).logits == end.logits);
    }
}

TEST(text_between_chunks_is_computed_once_if_the_question_pass_runs_every_layer) {
    auto m = tiny("qwen3");
    const std::vector<int32_t> between = ids(40, 7), question = ids(12, 3);
    const std::vector<Segment> s{{{1}, nullptr},
                                 {{}, encode(m, ids(100))},
                                 {between, nullptr},
                                 {{}, encode(m, ids(100, 2))},
                                 {question, nullptr}};
    const auto rows = [&](const StrategySpec & spec) { return append(m, s, spec).report.layers.front().rows; };
    CHECK_EQ(rows(query(0.1)), 20 + 12);
    CHECK_EQ(rows(query(0.1, {1})), 1 + 20 + 40 + 12);
    // With no tokens selected it equals full reuse.
    CHECK(append(m, s, query(0)).logits == append(m, s, kNone).logits);
}

TEST(ratio_zero_of_every_strategy_reuses_all) {
    auto m = tiny("qwen3");
    const auto s = prompt(m);
    const Result reused = append(m, s, kNone);
    for (const StrategySpec & spec : selective(0)) {
        const Result r = append(m, s, spec);
        CHECK_EQ(r.report.recomputed_tokens, 0);
        CHECK(r.report.selected.empty());
        // If a check computes the first layers for all tokens, they are fresh; otherwise everything is reused.
        if (spec.check_layers.empty()) CHECK(r.logits == reused.logits);
    }
}

TEST(every_strategy_recomputes_its_share_and_comes_closer_to_full_prefill) {
    auto m = tiny("llama");
    const auto s = prompt(m);
    const auto whole = append(m, s, kFull).logits;
    const double reused = apart(append(m, s, kNone).logits, whole);
    for (const StrategySpec & spec : selective(0.5)) {
        const Result r = append(m, s, spec);
        CHECK_EQ(r.report.recomputed_tokens, 100);
        CHECK_EQ(r.report.selected.size(), size_t(100));
        CHECK(std::is_sorted(r.report.selected.begin(), r.report.selected.end()));
        CHECK(r.report.selected.front() >= 1 && r.report.selected.back() <= 200);
        if (!(apart(r.logits, whole) < reused)) {
            test::fail(__FILE__, __LINE__, label(spec) + " is no better than reuse");
        }
    }
}

TEST(deviation_of_keys_and_of_values_add_up) {
    auto m = tiny("qwen2");
    const auto at = [&](DeviationOf of) {
        return append(m, prompt(m), deviation(0.1, of)).report.checks.at(0).deviation;
    };
    const auto v = at(DeviationOf::v), k = at(DeviationOf::k), kv = at(DeviationOf::kv);
    CHECK(v != k);
    double worst = 0;
    for (size_t i = 0; i < v.size(); ++i) {
        worst = std::max(worst, std::fabs(double(v[i]) + k[i] - kv[i]) / std::max(1e-3, double(kv[i])));
    }
    CHECK(worst < 1e-4);
    // The first chunk is at the position where it was encoded, so its keys do not deviate, rotated or not.
    CHECK(*std::max_element(k.begin(), k.begin() + 100) < 1e-2);
    CHECK(*std::max_element(k.begin() + 100, k.end()) > 1e-1);
}

TEST(attention_of_the_question_matches_its_own_keys_and_queries) {
    // One layer, one question token: the weights follow from the cache alone, and together with those of the question's
    // keys they sum to one.
    auto m = tiny("llama");
    const AppendReport r = append(m, prompt(m), query(0.1, {0})).report;
    CHECK_EQ(r.question.candidates.size(), size_t(200));
    CHECK_EQ(r.question.layers.size(), size_t(1));
    double sum = 0;
    for (float a : r.question.attention) {
        CHECK(a >= 0);
        sum += a;
    }
    CHECK(sum > 0.1 && sum < 1);
    CHECK(r.selected == [&] {
        std::vector<int32_t> out;
        for (int32_t i : top_k(r.question.attention, 20)) out.push_back(r.question.candidates[size_t(i)]);
        return out;
    }());
    // Another question attends elsewhere; deviation does not depend on it.
    const auto other = prompt(m, ids(12, 8));
    CHECK(append(m, other, query(0.1, {0})).report.selected != r.selected);
    CHECK(append(m, other, deviation(0.1)).report.selected == append(m, prompt(m), deviation(0.1)).report.selected);
}

TEST(attention_goes_to_the_key_that_matches_the_query) {
    // The question repeats a token of the second chunk. In layer 0 keys depend only on the token, so equal tokens at
    // neighbouring positions get nearly equal attention, whichever chunk they are from.
    auto m = tiny("qwen3");
    std::vector<int32_t> a = ids(100), b = ids(100, 2);
    a[99] = b[0] = 77;  // positions 100 and 101
    const std::vector<Segment> s{{{1}, nullptr}, {{}, encode(m, a)}, {{}, encode(m, b)}, {ids(12, 3), nullptr}};
    const auto attention = append(m, s, query(0.1, {0})).report.question.attention;
    CHECK(std::fabs(attention[99] - attention[100]) < 0.5 * std::max(attention[99], attention[100]));
}

TEST(a_question_pass_leaves_no_trace) {
    auto m = tiny("llama");
    const auto s = prompt(m);
    CHECK(append(m, s, query(0)).logits == append(m, s, kNone).logits);
    const Result r = append(m, s, query(0.2, {1}));
    CHECK_EQ(r.report.layers.size(), size_t(4));
    CHECK_EQ(r.report.layers.at(3).rows, 1 + 12 + 40);
    CHECK_EQ(r.report.layers.at(0).rows, 1 + 12 + 40);
    for (auto & l : r.report.layers) CHECK_EQ(l.recomputed.tokens, 40);
    CHECK(r.report.layers.at(0).recomputed.mean < 1e-3);  // layer 0 depends only on the token
    CHECK(r.report.layers.at(2).recomputed.mean > 1e-2);
}

TEST(adaptive_ratios_cover_the_mass_within_bounds) {
    auto m = tiny("llama");
    const auto s = prompt(m);
    const AppendReport r = append(m, s, adaptive(deviation(0), 0.7)).report;
    const CheckReport & c = r.checks.at(0);
    const double all = std::accumulate(c.deviation.begin(), c.deviation.end(), 0.0);
    double covered = 0, least = 1e30;
    for (int32_t p : c.selected) {
        const float d =
            c.deviation[size_t(std::lower_bound(c.candidates.begin(), c.candidates.end(), p) - c.candidates.begin())];
        covered += d;
        least = std::min(least, double(d));
    }
    CHECK(covered >= 0.7 * all * (1 - 1e-6));
    CHECK(covered - least < 0.7 * all);  // one token fewer would not suffice
    CHECK_EQ(append(m, s, adaptive(deviation(0), 0.7, 0, 0.05)).report.recomputed_tokens, 10);
    CHECK_EQ(append(m, s, adaptive(query(0), 0.01, 0.3, 1)).report.recomputed_tokens, 60);
    CHECK_EQ(append(m, s, adaptive(query(0), 1, 0, 1)).report.recomputed_tokens, 200);
}

TEST(parameters_that_fit_no_strategy_are_misuse) {
    const auto fails = [](const StrategySpec & s) {
        try {
            make_strategy(s, 4);
        } catch (const std::logic_error &) {
            return true;
        }
        return false;
    };
    for (const StrategySpec & s : selective(0.5)) CHECK(!fails(s));
    for (const StrategySpec & s : selective(1.5)) CHECK(fails(s));
    CHECK(fails(query(0.1, {})) && fails(query(0.1, {4})) && fails(query(0.1, {2, 1})));
    CHECK(fails({.name = "deviation", .check_layers = {1, 2}, .ratios = {0.1, 0.2}}));
    CHECK(fails({.name = "deviation", .check_layers = {1}, .ratios = {0.1, 0.1}}));
    CHECK(fails({.name = "guess"}));
    CHECK(fails(adaptive(query(0), 0.5, 0.4, 0.3)));
}

TEST(pipelined_serial_throttled_and_in_memory_are_the_same_bit_for_bit) {
    auto m = tiny("qwen3");
    auto s = prompt(m);
    std::vector<Segment> files = s;
    for (size_t i : {1, 2}) {
        const std::string path = test::scratch("load-" + std::to_string(i) + ".kvc");
        s[i].chunk->save(path);
        files[i].chunk = std::make_shared<ChunkKv>(path);
    }
    for (const StrategySpec & spec : {kNone, deviation(0.2), query(0.2, {1})}) {
        const auto in_memory = append(m, s, spec).logits;
        for (const LoadOptions & loading :
             {LoadOptions{}, LoadOptions{.serial = true}, LoadOptions{.serial = false, .bytes_per_second = 20e6}}) {
            Session session(m, 1024);
            const AppendReport r = session.append(files, spec, nullptr, nullptr, loading);
            CHECK(session.logits() == in_memory);
            CHECK_EQ(r.bytes_loaded,
                     (s[1].chunk->layer_bytes(0) + s[2].chunk->layer_bytes(0)) * (spec.name == "deviation" ? 3 : 4));
            double end = 0;
            for (const LayerReport & l : r.layers) {
                if (!l.load_bytes) continue;
                CHECK(l.load_start >= end);  // one layer after another
                end = l.load_end;
                if (loading.bytes_per_second > 0) {
                    CHECK(l.load_end - l.load_start >= 1e3 * double(l.load_bytes) / loading.bytes_per_second - 0.5);
                }
                if (loading.serial) {
                    CHECK(l.layer == 0 || l.load_start >= r.layers[size_t(l.layer) - 1].compute_end ||
                          !spec.question_layers.empty());
                }
            }
        }
    }
}
