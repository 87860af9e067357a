#include "drafts.h"

#include <algorithm>
#include <bit>

#include "engine/numbers.h"

namespace kvasir {

namespace {
// Numbers of drafts in a step: few, since each needs its own graph and its own measured time.
constexpr std::array kCounts{1, 2, 4, 8, DecodeBatch::kMostRows - 1};
constexpr int kAlways = 8;
constexpr double kLeastGain = 1.05;  // for inexact estimates
constexpr double kWeight = 0.125;    // of the latest guess

size_t group(int matched) { return std::min(size_t(std::bit_width(unsigned(matched))) - 2, size_t(3)); }
}  // namespace

bool Drafts::take(int32_t token, std::vector<float> & logits) {
    if (drafting_ == Drafting::off) return false;
    if (lookup_.matched() > 0) {
        double & right = right_[group(lookup_.matched())];
        right += (double(lookup_.guess(1).front() == token) - right) * kWeight;
    }
    lookup_.add(token);
    if (pending_.empty() || pending_.front().token != token) return pending_.clear(), false;
    logits.swap(pending_.front().logits);
    pending_.pop_front();
    ++accepted_;
    return true;
}

std::vector<int32_t> Drafts::next(int most, int sequences, const StepTimes & times) const {
    const int matched = lookup_.matched();
    most = std::min(most, DecodeBatch::kMostRows / sequences - 1);
    if (drafting_ == Drafting::off || matched == 0 || most <= 0) return {};
    if (drafting_ == Drafting::always) return lookup_.guess(std::min(most, kAlways));
    // Tokens of all sequences in the step, relative to a step without drafts.
    double best = kLeastGain, right = 1, tokens = sequences;
    int count = 0, n = 0;
    for (const int candidate : kCounts) {
        if (candidate > most) break;
        while (n < candidate) tokens += right *= right_[group(matched + n++)];
        const double gain = tokens / sequences / times.ratio(sequences + candidate, sequences);
        if (gain > best) best = gain, count = candidate;
    }
    return lookup_.guess(count);
}

void Drafts::add_rows(const std::vector<int32_t> & tokens, std::vector<DecodeRow> & rows) {
    pending_.clear();
    for (const int32_t token : tokens) {
        const DecodeRow & before = rows.back();
        pending_.push_back({token});
        rows.push_back({token, before.position + 1, before.cache, &pending_.back().logits});
    }
}

int Drafts::drop_not_finite() {
    drafted_ += int(pending_.size());
    const auto end = std::find_if_not(pending_.begin(), pending_.end(),
                                      [](const Computed & draft) { return all_finite(draft.logits); });
    pending_.erase(end, pending_.end());
    return int(pending_.size());
}

}  // namespace kvasir
