#include "strategy.h"

#include <algorithm>

namespace kvasir {

std::vector<int32_t> select_by_deviation(const std::vector<float> & deviation, const std::vector<bool> & reusable, size_t keep) {
    std::vector<int32_t> pool, out;
    for (int32_t i = 0; i < int32_t(deviation.size()); ++i) (reusable[size_t(i)] ? pool : out).push_back(i);
    keep = std::min(keep, pool.size());
    const auto larger = [&](int32_t a, int32_t b) {
        const float da = deviation[size_t(a)], db = deviation[size_t(b)];
        return da != db ? da > db : a < b;
    };
    std::nth_element(pool.begin(), pool.begin() + std::ptrdiff_t(keep), pool.end(), larger);
    out.insert(out.end(), pool.begin(), pool.begin() + std::ptrdiff_t(keep));
    std::sort(out.begin(), out.end());
    return out;
}

}  // namespace kvasir
