#include "engine/matmul.h"

#include <cmath>

#include "engine/error.h"
#include "engine/matmul/kernel.h"
#include "harness.h"

using namespace kvasir;

namespace {

struct Problem {
    int width, outputs, count;
    std::vector<uint8_t> weights;
    std::vector<ggml_bf16_t> rows;
    std::vector<float> exact;  // [count][outputs], of the rows as bf16, summed in double

    Problem(int w, int o, int n, uint32_t seed) : width(w), outputs(o), count(n), weights(ggml_row_size(GGML_TYPE_Q8_0, w) * size_t(o)) {
        uint32_t state = seed;
        const auto next = [&] { return float((state = state * 1664525 + 1013904223) >> 8) / float(1 << 23) - 1; };
        std::vector<float> values(size_t(w) * size_t(o)), x(size_t(w) * size_t(n));
        for (float & v : values) v = next();
        for (float & v : x) v = 3 * next();
        ggml_quantize_chunk(GGML_TYPE_Q8_0, values.data(), weights.data(), 0, o, w, nullptr);
        ggml_get_type_traits(GGML_TYPE_Q8_0)->to_float(weights.data(), values.data(), int64_t(values.size()));
        rows.resize(x.size());
        ggml_fp32_to_bf16_row(x.data(), rows.data(), int64_t(x.size()));
        for (int r = 0; r < n; ++r) {
            for (int i = 0; i < o; ++i) {
                double sum = 0;
                for (int k = 0; k < w; ++k) sum += double(values[size_t(i) * size_t(w) + size_t(k)]) * double(ggml_bf16_to_fp32(rows[size_t(r) * size_t(w) + size_t(k)]));
                exact.push_back(float(sum));
            }
        }
    }

    std::vector<float> run(const MatmulKernel & kernel, int begin, int rows_run, int threads) const {
        std::vector<float> out(size_t(rows_run) * size_t(outputs), NAN);
        std::vector<uint8_t> scratch(kernel.scratch_bytes + 64);
        void * aligned = reinterpret_cast<void *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
        const auto * x = reinterpret_cast<const uint16_t *>(rows.data()) + size_t(begin) * size_t(width);
        const MatmulJob job{weights.data(), x, out.data(), width, outputs, rows_run};
        for (int ith = 0; ith < threads; ++ith) kernel.run(job, ith, threads, aligned);
        return out;
    }
};

constexpr int kShapes[][3] = {{32, 16, 2}, {64, 48, 7}, {1024, 128, 33}, {1056, 80, 65}, {3072, 208, 200}, {2048, 64, 1}};

}  // namespace

TEST(matmul_comes_near_sums_in_double_on_shapes_of_all_kinds) {
    const MatmulKernel * kernel = matmul_kernel();
    if (!kernel) return;  // this CPU has none: ggml's is used
    for (const auto & [width, outputs, count] : kShapes) {
        const Problem p(width, outputs, count, uint32_t(width + count));
        const std::vector<float> out = p.run(*kernel, 0, count, 2);
        double error = 0, size = 0;
        for (size_t i = 0; i < out.size(); ++i) {
            CHECK(std::isfinite(out[i]));
            error += std::pow(double(out[i]) - double(p.exact[i]), 2), size += std::pow(double(p.exact[i]), 2);
        }
        CHECK(std::sqrt(error / size) < 3e-3);  // weights lose all but 8 bits
    }
}

TEST(matmul_gives_a_row_the_same_bits_among_other_rows_and_threads) {
    const MatmulKernel * kernel = matmul_kernel();
    if (!kernel) return;
    const Problem p(1056, 80, 300, 5);
    const std::vector<float> all = p.run(*kernel, 0, 300, 1);
    for (const int threads : {2, 3, 16}) CHECK(p.run(*kernel, 0, 300, threads) == all);
    for (const auto & [begin, count] : {std::pair{0, 2}, {17, 5}, {64, 64}, {299, 1}}) {
        const std::vector<float> some = p.run(*kernel, begin, count, 2);
        CHECK(std::equal(some.begin(), some.end(), all.begin() + std::ptrdiff_t(begin) * 80));
    }
}

TEST(a_matmul_kernel_that_is_wrong_is_noticed) {
    static const MatmulKernel * right = nullptr;
    right = matmul_kernel();
    if (!right) return;
    const auto wrong = [](const MatmulJob & job, int ith, int nth, void * scratch) {
        right->run(job, ith, nth, scratch);
        if (ith == nth - 1) job.out[7] += 5;
    };
    CHECK(matmul_error(*right) < 5e-3);
    CHECK(matmul_error({"wrong", right->usable, right->scratch_bytes, wrong}) > 0.02);
}
