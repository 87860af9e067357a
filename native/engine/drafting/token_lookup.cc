#include "token_lookup.h"

#include <algorithm>
#include <bit>

namespace kvasir {

namespace {
constexpr int kMostOccurrences = 64;  // that are compared, the latest first
constexpr int kLeastMatched = 2;
constexpr size_t kLeastSlots = 1024;
}

TokenLookup::TokenLookup(std::vector<int32_t> text)
    : tokens_(std::move(text)),
      latest_(std::bit_ceil(std::max(kLeastSlots, tokens_.size())), -1),
      earlier_(tokens_.size(), -1) {
    for (size_t end = 1; end < tokens_.size(); ++end) index(end);
}

void TokenLookup::add(int32_t token) {
    const bool guessed = matched_ > 0 && tokens_[next_] == token;
    tokens_.push_back(token);
    earlier_.push_back(-1);
    const size_t end = tokens_.size() - 1;
    if (guessed) ++next_, matched_ = std::min(matched_ + 1, kMostMatched);
    else find(end);
    if (end > 0) index(end);
}

std::vector<int32_t> TokenLookup::guess(int count) const {
    std::vector<int32_t> out;
    for (size_t i = 0; matched_ > 0 && int(i) < count; ++i) {
        const size_t at = next_ + i;
        out.push_back(at < tokens_.size() ? tokens_[at] : out[at - tokens_.size()]);
    }
    return out;
}

int32_t & TokenLookup::latest(size_t end) {
    const uint64_t pair = uint64_t(uint32_t(tokens_[end - 1])) << 32 | uint32_t(tokens_[end]);
    return latest_[(pair * 0x9E3779B97F4A7C15u >> 32) & (latest_.size() - 1)];  // Fibonacci hashing
}

void TokenLookup::index(size_t end) {
    int32_t & slot = latest(end);
    earlier_[end] = slot;
    slot = int32_t(end);
}

void TokenLookup::find(size_t end) {
    matched_ = 0;
    if (end == 0) return;
    int32_t at = latest(end);
    for (int i = 0; at >= 0 && i < kMostOccurrences; ++i, at = earlier_[size_t(at)]) {
        const int length = common(size_t(at), end);
        if (length >= kLeastMatched && length > matched_) matched_ = length, next_ = size_t(at) + 1;
    }
}

// Number of equal tokens that end at both positions, a < b.
int TokenLookup::common(size_t a, size_t b) const {
    int n = 0;
    while (n < kMostMatched && size_t(n) <= a && tokens_[a - size_t(n)] == tokens_[b - size_t(n)]) ++n;
    return n;
}

}  // namespace kvasir
