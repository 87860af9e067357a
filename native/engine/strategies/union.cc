// `deviation` and `query` share one budget: a token's score is its share of all deviation plus its share of the
// question's attention.
#include "engine/error.h"
#include "engine/strategy.h"

namespace kvasir {

namespace {

class Union : public Strategy {
  public:
    Union(const StrategySpec & spec, Budget budget)
        : check_layers_(spec.check_layers), question_layers_(spec.question_layers), of_(spec.of), budget_(budget) {}
    std::vector<int> question_layers() const override { return question_layers_; }
    std::vector<int> check_layers() const override { return check_layers_; }
    DeviationOf deviation_of() const override { return of_; }
    std::vector<int32_t> at_check(size_t, const Candidates & c) const override {
        std::vector<float> scores = shares(c.deviation);
        const std::vector<float> attention = shares(c.attention);
        for (size_t i = 0; i < scores.size(); ++i) scores[i] += attention[i];
        return top_k(scores, budget_.tokens(scores, c.reusable));
    }

  private:
    std::vector<int> check_layers_, question_layers_;
    DeviationOf of_;
    Budget budget_;
};

}  // namespace

std::unique_ptr<Strategy> make_union(const StrategySpec & spec, int n_layer) {
    require_layers(spec.check_layers, n_layer);
    require_layers(spec.question_layers, n_layer);
    require(spec.check_layers.size() == 1, "union checks one layer");
    return std::make_unique<Union>(spec, single_budget(spec));
}

}  // namespace kvasir
