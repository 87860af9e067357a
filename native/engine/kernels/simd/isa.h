#pragma once
// Shared prerequisites of the .inc files of kernels. Each kernel includes those files in its own namespace, so that the
// linker never merges code compiled for different instruction sets.
//
// Thread safety: any thread may call these functions.
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#if defined(__x86_64__)
namespace kvasir {

// Features of this processor and its system. Static, so that each kernel has its own copy.
[[maybe_unused]] static bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") &&
           __builtin_cpu_supports("bmi2");
}
[[maybe_unused]] static bool has_avx512() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

[[maybe_unused]] static bool has_avx512_vnni() { return has_avx512() && __builtin_cpu_supports("avx512vnni"); }
// GCC 12 cannot query this feature.
[[maybe_unused]] static bool has_avx_vnni() {
    if (!has_avx2()) return false;  // also checks that the system saves the registers
    unsigned a, b, c, d;
    constexpr unsigned kAvxVnni = 1u << 4;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & kAvxVnni);
}

// Whether VDPBF16PS is fast: Intel's processors need twice as long for it as for the same products in f32.
[[maybe_unused]] static bool has_fast_bf16() {
    return has_avx512() && __builtin_cpu_supports("avx512bf16") && !__builtin_cpu_is("intel");
}

}  // namespace kvasir
#endif
