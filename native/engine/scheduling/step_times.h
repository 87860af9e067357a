#pragma once
// How long decode steps take by their number of rows, learned from the steps so far. A step reads all weights once, so
// further rows cost little until their products take longer than reading.
//
// Thread safety: belongs to the thread that has the turn.
#include <algorithm>
#include <array>
#include <cstddef>

namespace kvasir {

class StepTimes {
  public:
    static constexpr int kMostRows = 16;

    void add(int rows, double ms) {
        if (rows < 1 || rows > kMostRows) return;
        const auto measured = size_t(rows);
        if (ms_[1] == 0)
            for (size_t n = 1; n < ms_.size(); ++n) ms_[n] = ms * guess(n) / guess(measured);
        double & known = ms_[measured];
        known += std::min((ms - known) * 0.25, known * 0.25);  // a busy machine delays single steps by far more
        // Other numbers of rows drift to the guess, so that they are tried again some hundred steps later.
        for (size_t n = 2; n < ms_.size(); ++n)
            if (n != measured) ms_[n] += (ms_[1] * guess(n) - ms_[n]) * 0.002;
    }
    // The time of a step with `rows` rows, in steps with `instead` rows.
    double ratio(int rows, int instead) const {
        const auto ms = [&](int n) { return ms_[size_t(std::clamp(n, 1, kMostRows))]; };
        return ms(instead) == 0 ? guess(size_t(rows)) / guess(size_t(instead)) : ms(rows) / ms(instead);
    }

  private:
    static double guess(size_t rows) { return 1 + 0.1 * double(rows - 1); }

    std::array<double, kMostRows + 1> ms_{};  // by number of rows; 0: no step yet
};

}  // namespace kvasir
