// Full prefill: chunks are computed as plain text.
#include "engine/fusing/strategy.h"

namespace kvasir {

namespace {
class Full : public Strategy {
    bool reuses() const override { return false; }
};
}  // namespace

std::unique_ptr<Strategy> make_full(const StrategySpec &, int) { return std::make_unique<Full>(); }

}  // namespace kvasir
