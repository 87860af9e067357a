#pragma once
// Which context tokens to compute again. A strategy says with which rows a pass starts and, at its check layers, which
// of them stay.
#include <memory>
#include <string>
#include <vector>

namespace kvasir {

struct StrategySpec {
    enum class Kind { none, full, deviation } kind = Kind::none;
    std::vector<int> check_layers;  // ascending
    std::vector<float> ratios;      // per check layer, falling, of the reusable tokens
};

// Indices of the `keep` largest deviations among the candidates whose `reusable` flag is set, together with all that are
// not reusable; ascending. Equal deviations: the earlier token wins.
std::vector<int32_t> select_by_deviation(const std::vector<float> & deviation, const std::vector<bool> & reusable, size_t keep);

}  // namespace kvasir
