#include <cmath>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "ggml.h"
#include "kernel.h"

namespace kvasir {

#if KVASIR_HAVE_AVX512BF16 && (defined(__GNUC__) || defined(__clang__))
namespace matmul_avx512bf16 { extern const MatmulKernel kernel; }
#endif

namespace {
// bf16 keeps 8 bits: an error of this size is far more than rounding, and far less than a wrong product.
constexpr double kMostError = 0.02;
}  // namespace

double matmul_error(const MatmulKernel & kernel) {
    constexpr int kWidth = 1120, kOutputs = 80, kCount = 13;  // deeper than a panel, and multiples of nothing larger
    uint32_t state = 1;
    const auto next = [&] { return float((state = state * 1664525 + 1013904223) >> 8) / float(1 << 23) - 1; };
    std::vector<float> w(size_t(kWidth) * kOutputs), x(size_t(kWidth) * kCount), back(w.size()), out(size_t(kOutputs) * kCount, NAN);
    for (float & value : w) value = next();
    for (float & value : x) value = next();
    std::vector<uint8_t> packed(ggml_row_size(GGML_TYPE_Q8_0, kWidth) * kOutputs);
    ggml_quantize_chunk(GGML_TYPE_Q8_0, w.data(), packed.data(), 0, kOutputs, kWidth, nullptr);
    ggml_get_type_traits(GGML_TYPE_Q8_0)->to_float(packed.data(), back.data(), int64_t(back.size()));
    std::vector<ggml_bf16_t> rows(x.size());
    ggml_fp32_to_bf16_row(x.data(), rows.data(), int64_t(x.size()));
    std::vector<uint8_t> scratch(kernel.scratch_bytes + 64);
    void * aligned = reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
    const MatmulJob job{packed.data(), reinterpret_cast<const uint16_t *>(rows.data()), out.data(), kWidth, kOutputs, kCount};
    for (int ith = 0; ith < 3; ++ith) kernel.run(job, ith, 3, aligned);
    double worst = 0, largest = 0;
    for (int r = 0; r < kCount; ++r) {
        for (int o = 0; o < kOutputs; ++o) {
            double sum = 0;
            for (int i = 0; i < kWidth; ++i) sum += double(back[size_t(o) * kWidth + size_t(i)]) * double(x[size_t(r) * kWidth + size_t(i)]);
            const double error = std::abs(sum - double(out[size_t(r) * kOutputs + size_t(o)]));
            if (!std::isfinite(error)) return INFINITY;
            worst = std::max(worst, error), largest = std::max(largest, std::abs(sum));
        }
    }
    return worst / largest;
}

const MatmulKernel * matmul_kernel() {
    static const MatmulKernel * const chosen = []() -> const MatmulKernel * {
        const char * wanted = std::getenv("KVASIR_MATMUL");
        if (wanted && std::strcmp(wanted, "ggml") == 0) return nullptr;
#if KVASIR_HAVE_AVX512BF16 && (defined(__GNUC__) || defined(__clang__))
        const MatmulKernel & kernel = matmul_avx512bf16::kernel;
        if (kernel.usable() && matmul_error(kernel) < kMostError) return &kernel;
#endif
        return nullptr;
    }();
    return chosen;
}

}  // namespace kvasir
