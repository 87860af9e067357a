#include "engine/aligned.h"
#include "engine/kernels/matmul.h"

#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "engine/devices/device.h"
#include "engine/kernels/matmul/kernel.h"
#include "tests/guarded.h"
#include "tests/harness.h"

using namespace kvasir;
#ifdef __linux__
using test::Guarded;
#endif

namespace {

struct Problem {
    ggml_type type;
    int width, outputs, count;
    std::vector<uint8_t> weights;
    std::vector<float> values, x;  // the weights as ggml reads them, and the rows

    Problem(ggml_type t, int w, int o, int n, uint32_t seed)
        : type(t),
          width(w),
          outputs(o),
          count(n),
          weights(ggml_row_size(t, w) * size_t(o)),
          values(size_t(w) * size_t(o)),
          x(size_t(w) * size_t(n)) {
        std::minstd_rand rng(seed);
        const auto next = [&] { return float(rng() % 20001) / 10000 - 1; };
        for (float & v : values) v = next();
        for (float & v : x) v = 3 * next();
        ggml_quantize_chunk(t, values.data(), weights.data(), 0, o, w, nullptr);
        ggml_get_type_traits(t)->to_float(weights.data(), values.data(), int64_t(values.size()));
    }

    std::vector<float> run(const MatmulKernel & kernel, int begin, int rows_run, int threads) const {
        std::vector<float> out(size_t(rows_run) * size_t(outputs), NAN);
        std::vector<uint8_t> scratch(kernel.scratch_bytes + 64);
        const auto from = x.begin() + std::ptrdiff_t(begin) * width;
        const std::vector<float> rows = packed_rows(kernel, {from, from + std::ptrdiff_t(rows_run) * width}, width);
        const MatmulJob job{type, weights.data(), rows.data(), out.data(), width, outputs, rows_run};
        for (int ith = 0; ith < threads; ++ith) kernel.run(job, ith, threads, align_64(scratch.data()));
        return out;
    }

    // Relative error of `out` against sums in double.
    double error(const std::vector<float> & out) const {
        double error = 0, size = 0;
        for (int r = 0; r < count; ++r) {
            for (int i = 0; i < outputs; ++i) {
                double sum = 0;
                for (int k = 0; k < width; ++k) {
                    sum += double(values[size_t(i) * size_t(width) + size_t(k)]) *
                           double(x[size_t(r) * size_t(width) + size_t(k)]);
                }
                error += std::pow(double(out[size_t(r) * size_t(outputs) + size_t(i)]) - sum, 2), size += sum * sum;
            }
        }
        return std::sqrt(error / size);
    }
};

// The rounding error of bytes, bf16 or 16-bit integers in rows and weights, or of f32 sums.
double bound(const MatmulKernel & kernel) {
    const bool bf16 = kernel.tolerance > 0.01;
    return !kernel.rounds() ? 1e-6 : kernel.bytes() ? 8e-3 : bf16 ? 4e-3 : 5e-4;
}

// Whether one of our kernels computes the product of a [width, outputs] matrix with `rows` rows.
bool ours(ggml_type type, int64_t width, int64_t outputs, int64_t rows) {
    const ContextPtr ctx = make_context(8);
    ggml_tensor * w = ggml_new_tensor_2d(ctx.get(), type, width, outputs);
    const BufferPtr memory(ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), 0));
    w->buffer = memory.get();
    return matmul(ctx.get(), w, ggml_new_tensor_2d(ctx.get(), GGML_TYPE_F32, width, rows))->op != GGML_OP_MUL_MAT;
}

// Rows as a decode step multiplies them: together, but each with the bits of a single row; or by ggml, one by one.
std::vector<float> rows_apart(const Problem & p, bool by_ggml,
                              ggml_backend_buffer_type_t weights_in = ggml_backend_cpu_buffer_type()) {
    Device cpu(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU), 2);
    const ContextPtr ctx = make_context(1);
    ggml_tensor * w = ggml_new_tensor_2d(ctx.get(), p.type, p.width, p.outputs);
    const BufferPtr memory = allocate_tensors(ctx.get(), weights_in);
    ggml_backend_tensor_set(w, p.weights.data(), 0, p.weights.size());
    ggml_context * c = cpu.graph_context();
    ggml_tensor * x = ggml_new_tensor_2d(c, GGML_TYPE_F32, p.width, p.count);
    ggml_set_input(x);
    ggml_tensor * y = by_ggml ? ggml_mul_mat(c, w, ggml_reshape_3d(c, x, p.width, 1, p.count))
                              : matmul(c, w, x, Rows::apart);
    ggml_set_output(y);
    ggml_cgraph * graph = ggml_new_graph(c);
    ggml_build_forward_expand(graph, y);
    cpu.prepare(graph);
    ggml_backend_tensor_set(x, p.x.data(), 0, p.x.size() * sizeof(float));
    cpu.run(graph, nullptr);
    std::vector<float> out(size_t(p.outputs) * size_t(p.count));
    ggml_backend_tensor_get(y, out.data(), 0, out.size() * sizeof(float));
    return out;
}

}  // namespace

TEST(matmul_kernels_are_close_to_sums_in_double_for_every_weight_type) {
    std::minstd_rand rng(7);
    for (const MatmulKernel * kernel : matmul_kernels()) {
        for (const ggml_type type : matmul_types()) {
            const int block = int(std::max<int64_t>(32, ggml_blck_size(type)));
            for (int i = 0; i < 3; ++i) {
                const int width = block * int(1 + rng() % uint32_t(1536 / block)), outputs = 16 * int(1 + rng() % 9),
                          count = int(1 + rng() % 40);
                const Problem p(type, width, outputs, count, uint32_t(rng()));
                const double error = p.error(p.run(*kernel, 0, count, 2));
                if (!(error < bound(*kernel))) {
                    throw std::runtime_error(std::string(kernel->name) + " with " + ggml_type_name(type) + ", " +
                                             std::to_string(width) + " × " + std::to_string(outputs) + ", " +
                                             std::to_string(count) + " rows: error " + std::to_string(error));
                }
            }
        }
    }
}

TEST(matmul_gives_a_row_the_same_bits_among_other_rows_and_threads) {
    for (const MatmulKernel * kernel : matmul_kernels()) {
        const Problem p(GGML_TYPE_Q8_0, 1056, 80, 300, 5);
        const std::vector<float> all = p.run(*kernel, 0, 300, 1);
        for (const int threads : {2, 3, 16}) CHECK(p.run(*kernel, 0, 300, threads) == all);
        for (const auto & [begin, count] : {std::pair{0, 2}, {17, 5}, {64, 64}, {299, 1}}) {
            const std::vector<float> some = p.run(*kernel, begin, count, 2);
            CHECK(std::equal(some.begin(), some.end(), all.begin() + std::ptrdiff_t(begin) * 80));
        }
    }
}

TEST(matmul_leaves_unsupported_shapes_to_ggml) {
    if (!matmul_kernel(GGML_TYPE_Q4_K)) return;  // this CPU has no kernel, or KVASIR_MATMUL=ggml
    CHECK(ours(GGML_TYPE_Q4_K, 256, 32, 2));
    CHECK(!ours(GGML_TYPE_Q4_K, 256, 32, 1));
    CHECK(!ours(GGML_TYPE_Q4_K, 256, 40, 2));
    CHECK(!ours(GGML_TYPE_F32, 256, 32, 2));
    CHECK(!ours(GGML_TYPE_IQ4_NL, 256, 32, 2));
}

TEST(matmul_kernels_read_q4_as_ggml_repacks_it) {
    const Device cpu(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU), 1);
    for (const ggml_backend_buffer_type_t memory : cpu.weight_types()) {
        if (std::string(ggml_backend_buft_name(memory)) != "CPU_REPACK") continue;
        for (const MatmulKernel * kernel : matmul_kernels())
            for (const ggml_type type : {GGML_TYPE_Q4_K, GGML_TYPE_Q4_0}) {
                CHECK(matmul_error(*kernel, type, memory) < kernel->tolerance / 2);
            }
    }
}

TEST(matmul_of_rows_apart_has_the_bits_of_each_row_alone) {
    std::minstd_rand rng(11);
    for (const ggml_type type : matmul_types()) {
        if (!ggml_is_quantized(type)) continue;  // computed row by row
        for (const int count : {2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 33}) {
            for (const int width : {32, 256, 1024, 1056, 3104, 3328}) {
                if (width % ggml_blck_size(type) != 0) continue;
                Problem p(type, width, 16 * int(1 + rng() % 9) - int(rng() % 4), count, uint32_t(rng()));
                std::fill_n(p.x.begin(), 32, 0.0f);
                p.x[size_t(width)] = 1e5f, p.x.back() = -1e-6f;
                const std::vector<float> alone = rows_apart(p, true);
                CHECK(rows_apart(p, false) == alone);
                for (const MatmulKernel * kernel : matmul_kernels_apart(type))
                    CHECK(p.run(*kernel, 0, count, 3) == alone);
            }
        }
    }
}

TEST(matmul_of_rows_apart_has_the_bits_of_each_row_alone_with_weights_that_ggml_repacks) {
    const Device cpu(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU), 1);
    for (const ggml_backend_buffer_type_t memory : cpu.weight_types()) {
        if (std::string(ggml_backend_buft_name(memory)) != "CPU_REPACK") continue;
        for (const ggml_type type : {GGML_TYPE_Q4_K, GGML_TYPE_Q4_0}) {
            for (const int count : {2, 3, 7, 8, 9, 16}) {
                for (const int outputs : {8, 48, 72, 128}) {
                    const Problem p(type, 256 * (1 + count % 5), outputs, count, uint32_t(count * outputs));
                    CHECK(rows_apart(p, false, memory) == rows_apart(p, true, memory));
                }
            }
        }
    }
}

TEST(matmul_kernels_handle_rows_and_weights_of_any_magnitude) {
    for (const MatmulKernel * kernel : matmul_kernels()) {
        Problem p(GGML_TYPE_Q8_0, 480, 32, 8, 3);
        const auto row = [&](int r) { return p.x.begin() + std::ptrdiff_t(r) * p.width; };
        std::fill_n(row(1), p.width, 0.0f);
        std::fill_n(row(2), p.width, 1e-39f);
        std::fill_n(row(3), p.width, -3e30f);
        row(4)[300] = 300;  // a hundred times its neighbours
        row(5)[479] = NAN, row(6)[0] = INFINITY;
        // All as large as the maximum: the integer sums reach their bounds.
        std::vector<float> same(size_t(p.width) * size_t(p.outputs), -0.75f);
        ggml_quantize_chunk(p.type, same.data(), p.weights.data(), 0, p.outputs / 2, p.width, nullptr);
        ggml_get_type_traits(p.type)->to_float(p.weights.data(), p.values.data(), int64_t(p.values.size()));
        const std::vector<float> out = p.run(*kernel, 0, p.count, 2);
        for (int r = 0; r < p.count; ++r) {
            for (int o = 0; o < p.outputs; ++o) {
                double sum = 0, size = 0;
                for (int k = 0; k < p.width; ++k) {
                    const double product =
                        double(p.values[size_t(o) * size_t(p.width) + size_t(k)]) * double(row(r)[k]);
                    sum += product, size += std::abs(product);
                }
                const double got = double(out[size_t(r) * size_t(p.outputs) + size_t(o)]);
                if (r == 5 || r == 6) CHECK(!std::isfinite(got));
                else if (!(std::abs(got - sum) <= 10 * bound(*kernel) * size + 1e-30)) {
                    test::fail(kernel->name, r, std::to_string(got) + " for " + std::to_string(sum));
                }
            }
        }
    }
}

TEST(matmul_kernels_read_any_scale_and_number_of_q8_0) {
    Problem p(GGML_TYPE_Q8_0, 160, 16, 5, 11);
    const size_t row_bytes = p.weights.size() / size_t(p.outputs);
    const auto block = [&](int o, int i) { return p.weights.data() + size_t(o) * row_bytes + 34 * size_t(i); };
    const auto set_scale = [&](int output, int i, float scale) {
        const ggml_fp16_t half = ggml_fp32_to_fp16(scale);
        std::memcpy(block(output, i), &half, sizeof half);
    };
    std::fill_n(p.x.begin(), p.width, 1.0f);
    for (int i = 0; i < 5; ++i) {
        set_scale(1, i, 0);
        set_scale(2, i, i == 2 ? 900.0f : 6e-8f);
        set_scale(3, i, i % 2 ? -0.5f : 0.25f);
        std::memset(block(4, i) + 2, 0x80, 32);  // −128: a known sum for rows of ones
        std::memset(block(5, i) + 2, 1, 32);
        set_scale(6, i, i == 1 ? INFINITY : 1);
        set_scale(7, i, i == 3 ? NAN : 1);
    }
    ggml_get_type_traits(p.type)->to_float(p.weights.data(), p.values.data(), int64_t(p.values.size()));
    for (const MatmulKernel * kernel : matmul_kernels()) {
        const std::vector<float> out = p.run(*kernel, 0, p.count, 1);
        for (int r = 0; r < p.count; ++r) {
            for (int o = 0; o < p.outputs; ++o) {
                double sum = 0, size = 0;
                for (int k = 0; k < p.width; ++k) {
                    const double product = double(p.values[size_t(o) * size_t(p.width) + size_t(k)]) *
                                           double(p.x[size_t(r) * size_t(p.width) + size_t(k)]);
                    sum += product, size += std::abs(product);
                }
                const double got = double(out[size_t(r) * size_t(p.outputs) + size_t(o)]);
                if (o == 6 || o == 7) CHECK(!std::isfinite(got));
                else if (!(std::abs(got - sum) <= 10 * bound(*kernel) * size)) {
                    test::fail(kernel->name, o, std::to_string(got) + " for " + std::to_string(sum));
                }
            }
        }
    }
}

#ifdef __linux__
namespace {
std::vector<uint8_t> bytes_of(const std::vector<float> & v) {
    return {reinterpret_cast<const uint8_t *>(v.data()), reinterpret_cast<const uint8_t *>(v.data() + v.size())};
}
}  // namespace

TEST(matmul_kernels_read_and_write_nothing_beyond_the_end) {
    for (const MatmulKernel * kernel : matmul_kernels()) {
        for (const ggml_type type : matmul_types()) {
            const int width = int(std::max<int64_t>(96, ggml_blck_size(type)));
            const Problem p(type, width, 48, 7, 9);
            const std::vector<float> packed = packed_rows(*kernel, p.x, width);
            const Guarded weights(p.weights), rows(bytes_of(packed)), out(std::vector<uint8_t>(48 * 7 * sizeof(float)));
            std::vector<uint8_t> scratch(kernel->scratch_bytes + 64);
            kernel->run({type, weights.data, reinterpret_cast<const float *>(rows.data),
                         reinterpret_cast<float *>(out.data), width, 48, 7},
                        0, 1, align_64(scratch.data()));
            const auto * got = reinterpret_cast<const float *>(out.data);
            CHECK(p.error({got, got + 48 * 7}) < bound(*kernel));
            if (!kernel->pack_row) continue;
            const Guarded x(bytes_of(p.x)), cells(std::vector<uint8_t>(kernel->cells(width) * sizeof(float)));
            kernel->pack_row(reinterpret_cast<const float *>(x.data + 6 * size_t(width) * sizeof(float)), width,
                             reinterpret_cast<float *>(cells.data));
            CHECK(std::equal(cells.data, cells.data + kernel->cells(width) * sizeof(float),
                             rows.data + 6 * kernel->cells(width) * sizeof(float)));
        }
    }
    for (const ggml_type type : matmul_types()) {
        for (const MatmulKernel * kernel : matmul_kernels_apart(type)) {
            const Problem p(type, ggml_blck_size(type) == 32 ? 1056 : 1280, 45, 7, 9);
            const std::vector<float> packed = packed_rows(*kernel, p.x, p.width);
            const Guarded weights(p.weights), rows(bytes_of(packed)), out(std::vector<uint8_t>(45 * 7 * sizeof(float)));
            std::vector<uint8_t> scratch(kernel->scratch_bytes + 64);
            kernel->run({p.type, weights.data, reinterpret_cast<const float *>(rows.data),
                         reinterpret_cast<float *>(out.data), p.width, p.outputs, p.count},
                        0, 1, align_64(scratch.data()));
            const auto * got = reinterpret_cast<const float *>(out.data);
            CHECK(std::equal(got, got + 45 * 7, rows_apart(p, true).begin()));
        }
    }
}
#endif

TEST(a_faulty_matmul_kernel_is_detected) {
    static const MatmulKernel * right = nullptr;
    const auto wrong = [](const MatmulJob & job, int ith, int nth, void * scratch) {
        right->run(job, ith, nth, scratch);
        if (ith == nth - 1) job.out[7] += 5;
    };
    for (const MatmulKernel * kernel : matmul_kernels()) {
        right = kernel;
        CHECK(matmul_error(*right, GGML_TYPE_Q6_K) < 5e-3);
        CHECK(matmul_error({"wrong", right->tolerance, right->usable, right->scratch_bytes, right->cells,
                            right->pack_row, wrong},
                           GGML_TYPE_Q6_K) > 0.02);
    }
}
