// Measures the peak of this machine's multiply-add, from registers, on all threads. JSON on stdout.
//
//   kvasir-peaks [--threads N]
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "engine/scheduling/cores.h"
#include "tools/timing.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

using namespace kvasir;

namespace {

struct Peak {
    const char * name;
    bool usable;
    double operations;  // per call
    void (*run)();
};

#if defined(__x86_64__) && defined(__GNUC__)
constexpr int kRounds = 1'000'000, kChains = 12;

// Independent chains of multiply-and-add in registers, enough to hide the latency.
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
    std::vector<Peak> all{
        {"f32 256", bool(__builtin_cpu_supports("avx2")) && __builtin_cpu_supports("fma"), n * 8, f32_256},
        {"f32 512", bool(__builtin_cpu_supports("avx512f")), n * 16, f32_512},
        {"bf16 512", bool(__builtin_cpu_supports("avx512bf16")), n * 32, bf16_512}};
    std::erase_if(all, [](const Peak & p) { return !p.usable; });
    return all;
}
#else
std::vector<Peak> peaks() { return {}; }
#endif

}  // namespace

int main(int argc, char ** argv) {
    const int threads = argc == 3 && std::string_view(argv[1]) == "--threads" ? std::atoi(argv[2]) : usable_threads(0);
    std::printf("[");
    const char * comma = "";
    for (const Peak & p : peaks()) {
        const double time = best_time(threads, 0.5, p.run);
        std::printf("%s{\"name\":\"%s\",\"gflops\":%.1f}", comma, p.name, p.operations * threads / time / 1e9);
        comma = ",";
    }
    std::printf("]\n");
}
