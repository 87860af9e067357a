// Tokens chosen by the caller, to compare with another choice of as many tokens. With a check layer they are kept from
// there on, as in other strategies; otherwise they are computed from the first layer.
#include <algorithm>

#include "engine/error.h"
#include "engine/fusing/strategy.h"

namespace kvasir {

namespace {

class Given : public Strategy {
  public:
    Given(std::vector<int32_t> tokens, std::vector<int> layers)
        : tokens_(std::move(tokens)), layers_(std::move(layers)) {}
    std::vector<int> check_layers() const override { return layers_; }
    std::vector<int32_t> at_start(const Candidates & c) const override { return those_of(c); }
    std::vector<int32_t> at_check(size_t, const Candidates & c) const override { return those_of(c); }

  private:
    std::vector<int32_t> those_of(const Candidates & c) const {
        std::vector<int32_t> out;
        for (size_t i = 0; i < c.size(); ++i)
            if (std::binary_search(tokens_.begin(), tokens_.end(), c.tokens[i])) out.push_back(int32_t(i));
        return out;
    }

    std::vector<int32_t> tokens_;
    std::vector<int> layers_;
};

}  // namespace

std::unique_ptr<Strategy> make_given(const StrategySpec & spec, int n_layer) {
    require(std::is_sorted(spec.tokens.begin(), spec.tokens.end()), "given tokens must ascend");
    if (!spec.check_layers.empty()) require_layers(spec.check_layers, n_layer);
    require(spec.check_layers.size() <= 1, "given tokens take at most one check layer");
    return std::make_unique<Given>(spec.tokens, spec.check_layers);
}

}  // namespace kvasir
