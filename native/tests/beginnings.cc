// Which beginning of a prompt a model continues, from which checkpoint, and which ones stay in memory.
#include <numeric>

#include "llama/beginnings.h"
#include "tests/harness.h"

using namespace kvasir;

namespace {

SavedMemory bytes(size_t count) { return std::make_shared<const std::vector<uint8_t>>(count); }

// Tokens 1 … n.
std::vector<int32_t> upto(int n) {
    std::vector<int32_t> tokens(static_cast<size_t>(n));
    std::iota(tokens.begin(), tokens.end(), 1);
    return tokens;
}

// The memory of tokens 1 … n with checkpoints at these lengths, the last of them with logits if it is at n.
Beginning beginning(int n, const std::vector<int> & lengths, size_t size = 1000) {
    Beginning out{upto(n), {}, bytes(size)};
    for (int length : lengths)
        out.add({length, bytes(10), length == n ? std::vector<float>{1.f} : std::vector<float>{}});
    return out;
}

std::vector<int> lengths(const Beginning & b) {
    std::vector<int> out;
    for (const Checkpoint & each : b.checkpoints) out.push_back(each.length);
    return out;
}

}  // namespace

TEST(memory_returns_only_to_checkpoints_and_to_its_end) {
    const Beginning b = beginning(100, {20, 60});
    CHECK_EQ(b.reach(upto(200), false), 100);
    CHECK_EQ(b.reach(upto(100), false), 60);  // the logits of its last token are unknown
    CHECK_EQ(b.reach(upto(99), false), 60);
    CHECK_EQ(b.reach(upto(60), false), 20);
    CHECK_EQ(b.reach(upto(19), false), 0);
    std::vector<int32_t> other = upto(200);
    other[59] = 0;
    CHECK_EQ(b.reach(other, false), 20);
    CHECK_EQ(b.reach(other, true), 59);
    CHECK_EQ(beginning(100, {20, 100}).reach(upto(100), false), 100);
}

TEST(checkpoints_stay_spread_over_a_memory) {
    Beginning b{upto(4000), {}, nullptr};
    for (int length = 100; length <= 4000; length += 100) b.add({length, bytes(10), {}});
    const std::vector<int> kept = lengths(b);
    CHECK_EQ(kept.size(), Beginning::kCheckpoints);
    CHECK_EQ(kept.front(), 100);
    CHECK_EQ(kept[kept.size() - 2], 3900);
    CHECK_EQ(kept.back(), 4000);
    for (size_t i = 1; i < kept.size(); ++i) CHECK(kept[i] - kept[i - 1] <= 1600);
    b.add({50, bytes(10), {}});  // earlier text was computed again
    CHECK((lengths(b) == std::vector<int>{50}));
}

TEST(the_beginning_that_reaches_furthest_is_continued_whoever_has_it) {
    Beginnings all;
    all.set_budget(10'000);
    const Beginning live = beginning(100, {30});
    all.join(live), all.join(live);
    all.keep(beginning(50, {}));
    CHECK(all.furthest(upto(200), false) == &live);
    const Beginning * kept = all.furthest(upto(80), false);
    CHECK(kept && kept->tokens.size() == 50);
    CHECK(all.furthest({7, 8, 9}, false) == nullptr);
    all.leave(live);
    CHECK_EQ(all.furthest(upto(200), false)->tokens.size(), size_t(50));
}

TEST(beginnings_stay_within_their_budget_the_last_used_longest) {
    Beginnings all;
    all.keep(beginning(50, {}));
    CHECK(!all.clear() && !all.keeps());
    all.set_budget(2600);
    all.keep(beginning(50, {}));
    std::vector<int32_t> other(60, 7);
    all.keep({other, {}, bytes(1000)});
    CHECK(all.furthest(upto(90), false) != nullptr);  // used again
    all.keep({std::vector<int32_t>(70, 8), {}, bytes(1000)});
    CHECK(all.furthest(upto(90), false) != nullptr);
    CHECK(all.furthest(std::vector<int32_t>(90, 7), false) == nullptr);
    CHECK(all.bytes() <= 2600);
    const Beginning live = beginning(100, {}, 2000);  // a session's own counts, and stays
    all.join(live);
    all.set_budget(2600);
    CHECK(all.furthest(upto(50), false) == nullptr && all.furthest(upto(101), false) == &live);
}

TEST(a_beginning_replaces_the_one_that_it_continued) {
    Beginnings all;
    all.set_budget(10'000);
    all.keep(beginning(50, {}));
    all.keep(beginning(100, {50}));
    CHECK(all.bytes() < 2000);
    all.keep(beginning(80, {}));  // nothing else returns to its end
    CHECK_EQ(all.furthest(upto(90), false)->tokens.size(), size_t(80));
}
