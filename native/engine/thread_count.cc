#include "thread_count.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#ifdef _WIN32
#include <windows.h>
#else
#include <ctime>
#endif

namespace kvasir {

namespace {
constexpr double kBlockMs = 20;        // long beside one time slice of the system
constexpr int kBlocks = 3;             // of a trial, behind the block before it: tried, usual, tried
constexpr double kFaster = 1.05;       // what a change must bring
constexpr double kShortMs = 2;
constexpr double kHopeless = 0.6;      // of the usual speed: the trial ends
constexpr double kUndisturbed = 0.9;   // share of the time that threads were given
constexpr double kTaken = 0.15;        // of it, more than noise where it comes twice
constexpr double kMostTaken = 0.6;     // more than noise
constexpr double kCost = 20;           // times what a trial took longer passes before the next
constexpr double kSoonMs = 200, kLaterMs = 4'000, kMuchLaterMs = 60'000;  // between trials

thread_local bool leaves_a_core = false;
}  // namespace

LeavesACore::LeavesACore(bool wanted) : before_(leaves_a_core) { leaves_a_core = leaves_a_core || wanted; }
LeavesACore::~LeavesACore() { leaves_a_core = before_; }

int ThreadCount::next(double work) {
    work_ = work;
    const int key = int(std::floor(std::log2(std::max(work, 1e-9))));
    const auto [at, fresh] = classes_.try_emplace(key);
    Class & c = at->second;
    if (fresh) {  // as the nearest one that is known
        const auto after = std::next(at);
        const Class * known = after != classes_.end() ? &after->second : nullptr;
        if (at != classes_.begin() && (!known || key - std::prev(at)->first <= after->first - key)) {
            known = &std::prev(at)->second;
        }
        c.count = known ? known->count : most_;
        c.interval_ms = kSoonMs;
        c.step = std::max(1, c.count / 2);
    }
    current_ = &c;
    const int wanted = c.is_others_turn ? c.other : c.count;
    limited_ = leaves_a_core && wanted == most_ && most_ > 1;
    return limited_ ? most_ - 1 : wanted;
}

void ThreadCount::took(double ms, double cpu_ms, double now_ms) {
    if (!current_ || limited_ || most_ == 1) return;
    Class & c = *current_;
    if (c.next_trial_ms == 0) c.next_trial_ms = now_ms + kLaterMs;
    c.block.add({work_, ms, cpu_ms, 1});
    if (c.is_others_turn && c.block.ms >= kBlockMs / 4 && c.block.speed() < c.usual.speed() * kHopeless) {
        c.tried.add(c.block);
        c.block = {};
        decide(c, now_ms);
    } else if (c.block.ms >= kBlockMs) {
        end_block(c, now_ms);
    }
}

void ThreadCount::end_block(Class & c, double now_ms) {
    const Block block = c.block;
    c.block = {};
    if (c.other) {
        (c.is_others_turn ? c.tried : c.usual).add(block);
        c.is_others_turn = !c.is_others_turn;
        if (++c.blocks == kBlocks) decide(c, now_ms);
        return;
    }
    const double share = block.cpu_ms / (block.ms * c.count);
    // Threads that sleep between short graphs miss the beginning of each.
    const bool taken = c.count > 1 && share < c.share - kTaken && block.ms > kShortMs * block.graphs;
    c.disturbed = taken ? c.disturbed + 1 : 0;
    if (c.disturbed > 1 || (taken && share < kMostTaken)) return use_fewer(share, now_ms);
    // More threads gain nothing where not even these have their cores.
    if (now_ms < c.next_trial_ms || (c.count < most_ && share < kUndisturbed)) return;
    c.other = neighbour(c, share);
    c.is_others_turn = c.other != 0;
    c.usual = block;
    c.tried = {};
    c.blocks = 0;
}

// Whatever takes the cores takes them from graphs of any work.
void ThreadCount::use_fewer(double share, double now_ms) {
    for (auto & [key, c] : classes_) {
        if (c.count == 1) continue;
        c.count = std::clamp(int(std::lround(c.count * share)), 1, c.count - 1);
        c.step = std::max(1, c.count / 2);
        c.share = 1;
        c.disturbed = 0;
        c.upward = true;
        c.block = {};
        c.other = 0;
        c.is_others_turn = false;
        c.interval_ms = kSoonMs;
        c.next_trial_ms = now_ms + kSoonMs;
    }
}

void ThreadCount::decide(Class & c, double now_ms) {
    if (c.tried.speed() > c.usual.speed() * kFaster) {
        c.count = c.other;
        c.share = std::min(1.0, c.tried.cpu_ms / (c.tried.ms * c.count));
        c.interval_ms = kSoonMs;
        c.step = std::max(1, c.count / 2);
    } else {
        const double share = c.usual.cpu_ms / (c.usual.ms * c.count);
        const bool quiet = c.count == most_ && share >= kUndisturbed;
        c.interval_ms = std::min(c.interval_ms * (quiet ? 8 : 2), quiet ? kMuchLaterMs : kLaterMs);
        // Neither way: closer, and from afar again when the closest were tried.
        if (c.upward) c.step = c.step > 1 ? c.step / 2 : std::max(1, c.count / 2);
        c.upward = !c.upward;
    }
    c.other = 0;
    c.is_others_turn = false;
    const double longer_ms = c.tried.ms - c.tried.work / c.usual.speed();
    c.next_trial_ms = now_ms + std::max(c.interval_ms, std::min(longer_ms * kCost, kMuchLaterMs));
}

// 0: there is none. Fewer by what other programs took, where they took some.
int ThreadCount::neighbour(Class & c, double share) const {
    for (int tries = 0; tries < 2; ++tries, c.upward = !c.upward) {
        const bool disturbed = share < kUndisturbed;
        const int fewer = disturbed ? std::min(c.count - 1, int(std::lround(c.count * share))) : c.count - c.step;
        const int other = c.upward ? std::min(most_, c.count + c.step) : std::max(1, fewer);
        if (other != c.count) return other;
    }
    return 0;
}

double process_cpu_ms() {
#ifdef _WIN32
    FILETIME made, ended, kernel, user;
    if (!GetProcessTimes(GetCurrentProcess(), &made, &ended, &kernel, &user)) return 0;
    const auto ms = [](const FILETIME & t) {
        return (double(t.dwHighDateTime) * 4294967296.0 + double(t.dwLowDateTime)) / 1e4;
    };
    return ms(kernel) + ms(user);
#else
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) * 1e3 + double(t.tv_nsec) / 1e6;
#endif
}

}  // namespace kvasir
