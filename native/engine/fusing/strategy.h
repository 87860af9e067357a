#pragma once
// Which cached tokens to recompute. A strategy is one file in strategies/ and one line in strategy.cc; it decides from
// measurements that Fuse makes for it, and never touches the cache.
//
// Thread safety: a Strategy is immutable; any thread may use it.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kvasir {

// What is compared to measure how far a cached token is from its recomputed value.
enum class DeviationOf { v, k, kv };

// How many tokens may be recomputed: a share of all reusable ones, or the smallest share whose scores cover a part of
// their sum, within bounds.
struct Budget {
    double ratio = 0;
    double cover = 0;  // 0: `ratio` applies, else `least` … `most`
    double least = 0, most = 1;

    // `scores` of the candidates; shares are relative to `reusable`.
    size_t tokens(const std::vector<float> & scores, size_t reusable) const;
};

// A strategy by name, with its parameters; each strategy reads only its own.
struct StrategySpec {
    std::string name = "none";
    std::vector<int> check_layers{};     // deviation, given: ascending
    std::vector<double> ratios{};        // of the reusable tokens: one per check layer, not increasing; else one
    std::vector<int> question_layers{};  // query: ascending
    std::vector<int32_t> tokens{};       // given: indices in the prompt, ascending
    DeviationOf of = DeviationOf::v;
    Budget adaptive{};                  // cover > 0: replaces the single ratio
    double shift = 0;  // any: the share of the mean change around a stored token that is applied to it, 0 … 1
};

// Measurements of the reusable tokens that are (still) candidates; vectors are parallel.
struct Candidates {
    std::vector<int32_t> tokens;   // index in the prompt, ascending
    std::vector<float> attention;  // from the question, if question_layers() is not empty
    std::vector<float> deviation;  // at a check layer only
    size_t reusable = 0;           // in the whole prompt: what ratios are relative to

    size_t size() const { return tokens.size(); }
};

class Strategy {
  public:
    virtual ~Strategy() = default;
    // Whether cached chunks are used at all.
    virtual bool reuses() const { return true; }
    // Layers whose attention from the question over the placed cache is summed before anything else is computed. A
    // strategy has these or check layers, not both.
    virtual std::vector<int> question_layers() const { return {}; }
    // Layers at which deviation is measured. If any, every token is computed up to the first of them.
    virtual std::vector<int> check_layers() const { return {}; }
    virtual DeviationOf deviation_of() const { return DeviationOf::v; }
    // Without check layers: the candidates (indices, ascending) that are computed from the first layer on.
    virtual std::vector<int32_t> at_start(const Candidates &) const { return {}; }
    // The candidates that are computed after the n-th check layer.
    virtual std::vector<int32_t> at_check(size_t n, const Candidates &) const;
};

// Throws std::logic_error if the parameters do not fit the strategy or a model of `n_layer` layers.
std::unique_ptr<Strategy> make_strategy(const StrategySpec & spec, int n_layer);
std::vector<std::string> strategy_names();

// Indices of the `keep` largest scores, ascending. Ties go to the earlier index.
std::vector<int32_t> top_k(const std::vector<float> & scores, size_t keep);

// Checks for strategies' parameters.
void require_layers(const std::vector<int> & layers, int n_layer);
// The budget of a strategy that selects only once.
Budget single_budget(const StrategySpec & spec);

}  // namespace kvasir
