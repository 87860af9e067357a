#include "strategy.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/error.h"

// Every strategy: its name, and the make_<…>() that its file in strategies/ defines. To add one: a file and a line
// here.
#define STRATEGIES(STRATEGY)             \
    STRATEGY("none", none)               \
    STRATEGY("full", full)               \
    STRATEGY("deviation", deviation)     \
    STRATEGY("query", query)             \
    STRATEGY("given", given)

namespace kvasir {

#define DECLARE(name, function) std::unique_ptr<Strategy> make_##function(const StrategySpec & spec, int n_layer);
STRATEGIES(DECLARE)

namespace {

struct Entry {
    const char * name;
    std::unique_ptr<Strategy> (*make)(const StrategySpec &, int n_layer);
};

constexpr Entry kStrategies[] = {
#define ENTRY(name, function) {name, make_##function},
    STRATEGIES(ENTRY)};

bool is_share(double x) { return x >= 0 && x <= 1; }

}  // namespace

std::unique_ptr<Strategy> make_strategy(const StrategySpec & spec, int n_layer) {
    for (const Entry & e : kStrategies)
        if (spec.name == e.name) return e.make(spec, n_layer);
    throw std::logic_error("unknown strategy: " + spec.name);
}

std::vector<std::string> strategy_names() {
    std::vector<std::string> names;
    for (const Entry & e : kStrategies) names.emplace_back(e.name);
    return names;
}

std::vector<int32_t> Strategy::at_check(size_t, const Candidates & c) const {
    std::vector<int32_t> all(c.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
}

size_t Budget::tokens(const std::vector<float> & scores, size_t reusable) const {
    const auto share = [&](double r) { return std::min(scores.size(), size_t(std::lround(r * double(reusable)))); };
    if (cover <= 0) return share(ratio);
    std::vector<float> sorted(scores);
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    const double wanted = cover * std::accumulate(sorted.begin(), sorted.end(), 0.0);
    size_t n = 0;
    for (double sum = 0; n < sorted.size() && sum < wanted; ++n) sum += double(sorted[n]);
    return std::clamp(n, share(least), share(most));
}

std::vector<int32_t> top_k(const std::vector<float> & scores, size_t keep) {
    std::vector<int32_t> all(scores.size());
    std::iota(all.begin(), all.end(), 0);
    keep = std::min(keep, all.size());
    const auto larger = [&](int32_t a, int32_t b) {
        const float x = scores[size_t(a)], y = scores[size_t(b)];
        return x != y ? x > y : a < b;
    };
    std::nth_element(all.begin(), all.begin() + std::ptrdiff_t(keep), all.end(), larger);
    all.resize(keep);
    std::sort(all.begin(), all.end());
    return all;
}

void require_layers(const std::vector<int> & layers, int n_layer) {
    require(!layers.empty(), "the strategy needs at least one layer");
    for (size_t i = 0; i < layers.size(); ++i) {
        require(layers[i] >= 0 && layers[i] < n_layer, "a strategy's layer is out of range");
        require(i == 0 || layers[i] > layers[i - 1], "a strategy's layers must ascend");
    }
}

Budget single_budget(const StrategySpec & spec) {
    const Budget & a = spec.adaptive;
    if (a.cover > 0) {
        require(is_share(a.cover) && is_share(a.least) && is_share(a.most) && a.least <= a.most,
                "adaptive shares must be between 0 and 1");
        return a;
    }
    require(spec.ratios.size() == 1 && is_share(spec.ratios.front()), "the strategy needs one ratio between 0 and 1");
    return {spec.ratios.front()};
}

}  // namespace kvasir
