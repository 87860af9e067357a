// How fast the attention kernels are on this machine, beside what it can do at most: JSON on stdout.
//
//   kvasir-attention [--threads N] [--rows 1,32,256,2048] [--keys 1024,4096,16384] [--kernels avx512,avx2] [--seconds S]
//
// The shape is that of a 0.6B model: 16 heads of 128 in groups of 2. Rows are the last ones of the keys. Each figure is the
// best of as many runs as fit into S seconds; an operation is a multiplication or an addition that the result needs
// (masked scores are not counted).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/attention/kernel.h"
#include "engine/backend.h"
#include "engine/convert.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

using namespace kvasir;

namespace {

constexpr int kHeads = 16, kGroup = 2, kDim = 128;
using Clock = std::chrono::steady_clock;

// Of this thread, in seconds: what other programs take does not count.
double processor_time() {
#ifdef CLOCK_THREAD_CPUTIME_ID
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
#else
    return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
#endif
}

// The best time of `body` on all threads at once, in seconds of the one that worked longest.
double best_time(int threads, double seconds, const std::function<void()> & body) {
    double best = INFINITY;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    for (int i = 0; i < 2 || Clock::now() < end; ++i) {
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

struct Peak {
    const char * name;
    bool usable;
    double operations;  // of one call
    void (*run)();
};

#if defined(__x86_64__) && defined(__GNUC__)
constexpr int kRounds = 1'000'000, kChains = 12;

// Independent chains of multiply-and-add on registers, as many as hide the latency.
#define PEAK(NAME, TARGET, TYPE, CONSTRAINT, EXPRESSION)                              \
    __attribute__((target(TARGET))) void NAME() {                                     \
        TYPE sum[kChains] = {}, a = {}, b = {};                                       \
        asm volatile("" : "+" CONSTRAINT(a), "+" CONSTRAINT(b));                      \
        for (int i = 0; i < kRounds; ++i) {                                           \
            _Pragma("GCC unroll 12") for (int j = 0; j < kChains; ++j) {              \
                sum[j] = EXPRESSION;                                                  \
                asm volatile("" : "+" CONSTRAINT(sum[j]));                            \
            }                                                                         \
        }                                                                             \
    }
PEAK(f32_256, "avx2,fma", __m256, "x", _mm256_fmadd_ps(a, b, sum[j]))
PEAK(f32_512, "avx512f", __m512, "v", _mm512_fmadd_ps(a, b, sum[j]))
PEAK(bf16_512, "avx512f,avx512bf16", __m512, "v", _mm512_dpbf16_ps(sum[j], (__m512bh) a, (__m512bh) b))

std::vector<Peak> peaks() {
    const double n = 2.0 * kRounds * kChains;
    std::vector<Peak> all{{"f32 256", bool(__builtin_cpu_supports("avx2")) && __builtin_cpu_supports("fma"), n * 8, f32_256},
                          {"f32 512", bool(__builtin_cpu_supports("avx512f")), n * 16, f32_512},
                          {"bf16 512", bool(__builtin_cpu_supports("avx512bf16")), n * 32, bf16_512}};
    std::erase_if(all, [](const Peak & p) { return !p.usable; });
    return all;
}
#else
std::vector<Peak> peaks() { return {}; }
#endif

struct Cache {
    std::vector<float> q, out;
    std::vector<uint16_t> k, v;

    Cache(int rows, int keys) : q(size_t(rows) * kHeads * kDim), out(q.size()), k(size_t(keys) * kHeads / kGroup * kDim), v(k.size()) {
        uint32_t state = 1;
        const auto next = [&] { return float((state = state * 1664525 + 1013904223) >> 8) / float(1 << 23) - 1; };
        std::vector<float> row(k.size());
        for (float & x : q) x = 2 * next();
        for (auto * to : {&k, &v}) {
            for (float & x : row) x = next();
            f32_to_f16(row.data(), to->data(), row.size());
        }
    }
};

double attention_time(const AttentionKernel & kernel, Cache & cache, int rows, int keys, int threads, double seconds) {
    std::vector<int32_t> positions;
    for (int r = 0; r < rows; ++r) positions.push_back(keys - rows + r);
    AttentionJob job{};
    job.q = cache.q.data(), job.k = cache.k.data(), job.v = cache.v.data(), job.out = cache.out.data(), job.positions = positions.data();
    job.rows = rows, job.n_head = kHeads, job.n_head_kv = kHeads / kGroup, job.head_dim = kDim, job.q_stride = size_t(kHeads) * kDim;
    job.scale = 1 / std::sqrt(float(kDim));
    std::vector<float> memory(kernel.shared_floats(job, keys));
    AttentionShare share;
    share.memory = memory.data();
    return best_time(threads, seconds, [&] {
        thread_local std::vector<float> scratch;
        scratch.resize(kernel.scratch_floats(job) + 16);
        kernel.run(job, share, threads, reinterpret_cast<float *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64));
    });
}

std::vector<int> numbers(const std::string & list) {
    std::vector<int> out;
    std::stringstream in(list);
    for (std::string item; std::getline(in, item, ',');) out.push_back(std::atoi(item.c_str()));
    return out;
}

}  // namespace

int main(int argc, char ** argv) {
    std::string rows = "1,32,256,2048", keys = "1024,4096,16384", only;
    int threads = default_threads();
    double seconds = 0.5;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string flag = argv[i], value = argv[i + 1];
        if (flag == "--threads") threads = std::atoi(value.c_str());
        else if (flag == "--rows") rows = value;
        else if (flag == "--keys") keys = value;
        else if (flag == "--kernels") only = "," + value + ",";
        else if (flag == "--seconds") seconds = std::atof(value.c_str());
        else return std::fprintf(stderr, "unknown flag %s\n", flag.c_str()), 2;
    }
    std::printf("{\"threads\":%d,\"shape\":{\"heads\":%d,\"group\":%d,\"headDim\":%d},\"peaks\":[", threads, kHeads, kGroup, kDim);
    const char * comma = "";
    for (const Peak & p : peaks()) {
        const double time = best_time(threads, seconds, p.run);
        std::printf("%s{\"name\":\"%s\",\"gflops\":%.1f}", comma, p.name, p.operations * threads / time / 1e9);
        comma = ",";
    }
    std::printf("],\"kernels\":[");
    comma = "";
    for (const AttentionKernel * kernel : attention_kernels()) {
        const bool asked = only.find("," + std::string(kernel->name) + ",") != std::string::npos;
        if (only.empty() ? std::string(kernel->name) == "amx-emulated" : !asked) continue;
        for (const int n : numbers(keys)) {
            for (const int r : numbers(rows)) {
                if (r > n) continue;
                Cache cache(r, n);
                const double time = attention_time(*kernel, cache, r, n, threads, seconds);
                const double visible = double(r) * (n - r) + double(r) * (r + 1) / 2;
                std::printf("%s\n{\"kernel\":\"%s\",\"rows\":%d,\"keys\":%d,\"ms\":%.4f,\"gflops\":%.1f,\"gbPerSecond\":%.1f}", comma, kernel->name, r, n,
                            time * 1e3, 4 * visible * kHeads * kDim / time / 1e9, 4.0 * n * kHeads / kGroup * kDim / time / 1e9);
                std::fflush(stdout);
                comma = ",";
            }
        }
    }
    std::printf("]}\n");
}
