#pragma once
// Timing of multi-threaded work.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <thread>
#include <vector>

namespace kvasir {

// CPU time of this thread in seconds: time taken by other programs does not count.
inline double processor_time() {
#ifdef CLOCK_THREAD_CPUTIME_ID
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
#else
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
#endif
}

// The best time of `body` run concurrently on all threads, in seconds of the thread that worked longest.
inline double best_time(int threads, double seconds, const std::function<void()> & body) {
    double best = INFINITY;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (int i = 0; i < 2 || std::chrono::steady_clock::now() < end; ++i) {
        std::vector<double> times(static_cast<size_t>(threads));
        const auto timed = [&](size_t t) {
            const double start = processor_time();
            body();
            times[t] = processor_time() - start;
        };
        std::vector<std::thread> others;
        for (int t = 1; t < threads; ++t) others.emplace_back(timed, size_t(t));
        timed(0);
        for (std::thread & t : others) t.join();
        best = std::min(best, *std::max_element(times.begin(), times.end()));
    }
    return best;
}

}  // namespace kvasir
