#pragma once
// Dot products of stored vectors in int8 with a query in int16. The query's values are at most kQueryMost: then the sum
// over kMostDimension values stays below 2^31.
//
// Thread safety: any thread may call these functions.
#include <cstddef>
#include <cstdint>

namespace kvasir {

constexpr int kQueryMost = 1023;
constexpr size_t kDotStep = 64;         // rows are padded with zeros to a multiple of this
constexpr size_t kMostDimension = 16384;

// `n`: a multiple of kDotStep, at most kMostDimension.
using DotFn = int32_t (*)(const int8_t * row, const int16_t * query, size_t n);

// The widest version that the CPU supports.
DotFn dot_function();
// Every version that it supports, the portable one first; for tests.
struct NamedDot {
    const char * name;
    DotFn dot;
};
const NamedDot * dot_functions(size_t & count);

namespace detail {
int32_t dot_avx2(const int8_t * row, const int16_t * query, size_t n);
int32_t dot_avx512vnni(const int8_t * row, const int16_t * query, size_t n);
}  // namespace detail

}  // namespace kvasir
