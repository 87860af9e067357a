// The beginning of every chunk (EPIC, Hu et al. 2024): a chunk's first tokens were encoded as a text's first ones,
// which draw attention that they should not have in the middle.
#include <cmath>

#include "engine/strategy.h"

namespace kvasir {

namespace {

class ChunkHead : public Strategy {
  public:
    explicit ChunkHead(double ratio) : ratio_(ratio) {}
    std::vector<int32_t> at_start(const Candidates & c) const override {
        std::vector<int32_t> out;
        for (size_t i = 0; i < c.size(); ++i)
            if (c.offset[i] < std::lround(ratio_ * c.chunk_length[i])) out.push_back(int32_t(i));
        return out;
    }

  private:
    double ratio_;
};

}  // namespace

std::unique_ptr<Strategy> make_chunk_head(const StrategySpec & spec, int) {
    StrategySpec fixed = spec;
    fixed.adaptive = {};  // there is no score to cover
    return std::make_unique<ChunkHead>(single_budget(fixed).ratio);
}

}  // namespace kvasir
