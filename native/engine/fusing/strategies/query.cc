// Selects tokens by the question's attention over the placed cache, summed over heads and some layers. No layer is
// computed for all tokens, which takes most of the time of `deviation` at small ratios.
#include "engine/fusing/strategy.h"

namespace kvasir {

namespace {

class Query : public Strategy {
  public:
    Query(std::vector<int> layers, Budget budget) : layers_(std::move(layers)), budget_(budget) {}
    std::vector<int> question_layers() const override { return layers_; }
    std::vector<int32_t> at_start(const Candidates & c) const override {
        return top_k(c.attention, budget_.tokens(c.attention, c.reusable));
    }

  private:
    std::vector<int> layers_;
    Budget budget_;
};

}  // namespace

std::unique_ptr<Strategy> make_query(const StrategySpec & spec, int n_layer) {
    require_layers(spec.question_layers, n_layer);
    return std::make_unique<Query>(spec.question_layers, single_budget(spec));
}

}  // namespace kvasir
