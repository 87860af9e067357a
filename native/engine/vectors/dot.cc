#include "engine/vectors/dot.h"

#include <vector>

#include "engine/kernels/simd/instruction_sets.h"

namespace kvasir {

namespace {

// Compilers turn this into SSE2's pmaddwd and NEON's smlal.
int32_t dot_portable(const int8_t * row, const int16_t * query, size_t n) {
    int32_t sum = 0;
    for (size_t i = 0; i < n; ++i) sum += int32_t(row[i]) * query[i];
    return sum;
}

std::vector<NamedDot> supported() {
    std::vector<NamedDot> all = {{"portable", dot_portable}};
    KVASIR_IF_AVX2(if (__builtin_cpu_supports("avx2")) all.push_back({"avx2", detail::dot_avx2});)
    KVASIR_IF_AVX512VNNI(if (__builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw"))
                             all.push_back({"avx512vnni", detail::dot_avx512vnni});)
    return all;
}

const std::vector<NamedDot> & functions() {
    static const std::vector<NamedDot> all = supported();
    return all;
}

}  // namespace

DotFn dot_function() { return functions().back().dot; }

const NamedDot * dot_functions(size_t & count) {
    count = functions().size();
    return functions().data();
}

}  // namespace kvasir
