#include "beginnings.h"

#include <algorithm>

namespace kvasir {

const Checkpoint * Beginning::at(int length) const {
    const auto found = std::find_if(checkpoints.begin(), checkpoints.end(),
                                    [&](const Checkpoint & each) { return each.length == length; });
    return found == checkpoints.end() ? nullptr : &*found;
}

int Beginning::reach(const std::vector<int32_t> & wanted, bool can_cut) const {
    const auto same = std::mismatch(tokens.begin(), tokens.end(), wanted.begin(), wanted.end()).first - tokens.begin();
    const int last = int(wanted.size());
    int length = 0;
    // All of a memory that cannot be truncated can be continued only behind its last token.
    if (can_cut) length = std::min(int(same), last - 1);
    else if (same == std::ptrdiff_t(tokens.size()) && same < last) length = int(same);
    for (const Checkpoint & each : checkpoints) {
        const bool usable = each.length <= int(same) && (each.length < last || !each.logits.empty());
        if (usable) length = std::max(length, each.length);
    }
    return length;
}

void Beginning::add(Checkpoint checkpoint) {
    std::erase_if(checkpoints, [&](const Checkpoint & each) { return each.length >= checkpoint.length; });
    checkpoints.push_back(std::move(checkpoint));
    if (checkpoints.size() <= kCheckpoints) return;
    size_t least = 1;
    const auto gap = [&](size_t i) { return checkpoints[i + 1].length - checkpoints[i - 1].length; };
    for (size_t i = 2; i + 2 < checkpoints.size(); ++i)
        if (gap(i) < gap(least)) least = i;
    checkpoints.erase(checkpoints.begin() + std::ptrdiff_t(least));
}

size_t Beginning::bytes() const {
    size_t sum = tokens.size() * sizeof(int32_t) + (saved ? saved->size() : 0);
    for (const Checkpoint & each : checkpoints)
        sum += (each.memory ? each.memory->size() : 0) + each.logits.size() * sizeof(float);
    return sum;
}

void Beginnings::join(const Beginning & live) {
    if (std::find(live_.begin(), live_.end(), &live) == live_.end()) live_.push_back(&live);
}

void Beginnings::leave(const Beginning & live) { std::erase(live_, &live); }

const Beginning * Beginnings::furthest(const std::vector<int32_t> & wanted, bool can_cut) {
    const Beginning * best = nullptr;
    int length = 0;
    const auto offer = [&](const Beginning & each) {
        const int reach = each.reach(wanted, can_cut);
        if (reach <= length) return false;
        best = &each, length = reach;
        return true;
    };
    for (const Beginning * each : live_) offer(*each);
    auto used = kept_.end();
    for (auto it = kept_.begin(); it != kept_.end(); ++it)
        if (offer(*it)) used = it;
    if (used != kept_.end()) kept_.splice(kept_.begin(), kept_, used);
    return best;
}

void Beginnings::keep(Beginning beginning) {
    // What it continued has nothing more to offer.
    std::erase_if(kept_, [&](const Beginning & each) {
        return each.tokens.size() <= beginning.tokens.size() &&
               std::equal(each.tokens.begin(), each.tokens.end(), beginning.tokens.begin()) &&
               beginning.at(int(each.tokens.size()));
    });
    kept_.push_front(std::move(beginning));
    shed();
}

void Beginnings::set_budget(size_t bytes) {
    budget_ = bytes;
    shed();
}

bool Beginnings::clear() {
    const bool any = !kept_.empty();
    kept_.clear();
    return any;
}

size_t Beginnings::bytes() const {
    size_t sum = 0;
    for (const Beginning * each : live_) sum += each->bytes();
    for (const Beginning & each : kept_) sum += each.bytes();
    return sum;
}

void Beginnings::shed() {
    while (!kept_.empty() && bytes() > budget_) kept_.pop_back();
}

}  // namespace kvasir
