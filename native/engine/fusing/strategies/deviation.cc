// CacheBlend (Yao et al. 2025, §4): compute all tokens up to a check layer, keep those whose KV differs most from the
// cached KV. Several check layers with falling ratios are its gradual filtering.
#include "engine/error.h"
#include "engine/fusing/strategy.h"

namespace kvasir {

namespace {

class Deviation : public Strategy {
  public:
    Deviation(std::vector<int> layers, std::vector<Budget> budgets, DeviationOf of)
        : layers_(std::move(layers)), budgets_(std::move(budgets)), of_(of) {}
    std::vector<int> check_layers() const override { return layers_; }
    DeviationOf deviation_of() const override { return of_; }
    std::vector<int32_t> at_check(size_t n, const Candidates & c) const override {
        return top_k(c.deviation, budgets_[n].tokens(c.deviation, c.reusable));
    }

  private:
    std::vector<int> layers_;
    std::vector<Budget> budgets_;
    DeviationOf of_;
};

}  // namespace

std::unique_ptr<Strategy> make_deviation(const StrategySpec & spec, int n_layer) {
    require_layers(spec.check_layers, n_layer);
    std::vector<Budget> budgets;
    if (spec.check_layers.size() == 1) {
        budgets.push_back(single_budget(spec));
    } else {
        require(spec.adaptive.cover <= 0, "an adaptive ratio needs exactly one check layer");
        require(spec.check_layers.size() == spec.ratios.size(), "there must be one ratio per check layer");
        for (size_t i = 0; i < spec.ratios.size(); ++i) {
            require(spec.ratios[i] >= 0 && spec.ratios[i] <= 1 && (i == 0 || spec.ratios[i] <= spec.ratios[i - 1]),
                    "ratios must be between 0 and 1 and must not increase");
            budgets.push_back({spec.ratios[i]});
        }
    }
    return std::make_unique<Deviation>(spec.check_layers, std::move(budgets), spec.of);
}

}  // namespace kvasir
