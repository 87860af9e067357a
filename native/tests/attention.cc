// Every attention kernel this CPU can run against the definition in double precision, on shapes drawn from a seed.
#include "tests/attention_problem.h"
#include "tests/guarded.h"
#include "tests/harness.h"

using namespace kvasir;
#ifdef __linux__
using test::Guarded;
#endif
using test::Problem;
using test::random_shape;

namespace {

double bound(const AttentionKernel & kernel, int rows) { return kernel.bf16 && rows > 1 ? 5e-2 : 5e-5; }

void for_each_kernel(const std::function<void(const AttentionKernel &, KvDtype)> & body) {
    const auto all = attention_kernels();
    CHECK(!all.empty());
    for (const AttentionKernel * k : all)
        for (const KvDtype type : {KvDtype::f16, KvDtype::q8_0}) body(*k, type);
}

void check_errors(const AttentionKernel & kernel, const Problem & p, int which) {
    const double error = p.worst_error();
    if (!(error < bound(kernel, p.job.rows))) {
        test::fail(kernel.name, which, std::string(dtype_name(p.shape.type)) + ", error " + std::to_string(error));
    }
}

}  // namespace

TEST(attention_kernels_agree_with_the_definition) {
    for_each_kernel([](const AttentionKernel & kernel, KvDtype type) {
        std::minstd_rand rng(23);
        for (int i = 0; i < 40; ++i) {
            Problem p(random_shape(rng, type, i % 8 ? 70 : 1, 400), uint32_t(i + 1));
            if (i % 3 == 0) p.scatter(64 << (rng() % 3), rng());
            p.run(kernel, 1 + int(rng() % 3));
            check_errors(kernel, p, i);
        }
    });
}

TEST(attention_with_windows_sinks_and_capped_scores_agrees_with_the_definition) {
    for_each_kernel([](const AttentionKernel & kernel, KvDtype type) {
        std::minstd_rand rng(41);
        const int windows[] = {0, 1, 7, 64, 100, 300};
        for (int i = 0; i < 48; ++i) {
            Problem p(random_shape(rng, type, i % 4 ? 70 : 1, 600), uint32_t(i + 1));
            if (i % 4 == 0) p.positions[0] = p.shape.keys - 1;
            p.narrow(windows[i % 6], i % 2 == 0, uint32_t(i), i % 5 < 2 ? 3.0f : 0);
            if (i % 3 == 0) p.scatter(64 << (rng() % 3), rng());
            p.run(kernel, 1 + int(rng() % 3));
            check_errors(kernel, p, i);
        }
    });
}

TEST(attention_never_reads_keys_long_before_the_window) {
    for_each_kernel([](const AttentionKernel & kernel, KvDtype type) {
        for (const int rows : {20, 1}) {
            Problem p({rows, 2, 1, 64, 900, type}, 5);
            for (int32_t & x : p.positions) x = std::max(x, 800);
            p.narrow(100, true, 1);
            for (auto * cache : {&p.k, &p.v}) {
                std::fill_n(cache->begin(), std::ptrdiff_t(512 * p.row_bytes()), uint8_t(0x7E));  // NaN
            }
            p.run(kernel, 1);
            check_errors(kernel, p, rows);
        }
    });
}

TEST(attention_of_a_row_does_not_depend_on_the_other_rows) {
    for_each_kernel([](const AttentionKernel & kernel, KvDtype type) {
        Problem all({50, 2, 2, 64, 300, type}, 3), some({50, 2, 2, 64, 300, type}, 3);
        all.narrow(90, true, 1), some.narrow(90, true, 1);
        all.run(kernel, 1);
        // Every third row, computed without the others, as blending does.
        std::vector<float> q;
        std::vector<int32_t> positions;
        const size_t width = size_t(all.job.n_head) * 64;
        for (int r = 0; r < 50; r += 3) {
            q.insert(q.end(), all.q.begin() + std::ptrdiff_t(r * width),
                     all.q.begin() + std::ptrdiff_t((r + 1) * width));
            positions.push_back(all.positions[size_t(r)]);
        }
        some.job.q = q.data(), some.job.positions = positions.data(), some.job.rows = int(positions.size());
        some.run(kernel, 2);
        for (int i = 0; i < some.job.rows; ++i) {
            CHECK(std::equal(some.out.begin() + std::ptrdiff_t(i * width),
                             some.out.begin() + std::ptrdiff_t((i + 1) * width),
                             all.out.begin() + std::ptrdiff_t(3 * i * width)));
        }
    });
}

TEST(attention_never_reads_keys_after_the_last_position) {
    for_each_kernel([](const AttentionKernel & kernel, KvDtype type) {
        Problem p({20, 2, 1, 64, 200, type}, 5);
        for (int32_t & x : p.positions) x = std::min(x, 100);
        for (auto * cache : {&p.k, &p.v}) {
            std::fill(cache->begin() + std::ptrdiff_t(101 * p.row_bytes()), cache->end(), uint8_t(0x7E));  // NaN
        }
        p.run(kernel, 1);
        check_errors(kernel, p, 0);
    });
}

TEST(attention_over_scattered_blocks_equals_contiguous_keys_bit_for_bit) {
    for_each_kernel([](const AttentionKernel & kernel, KvDtype type) {
        std::minstd_rand rng(7);
        for (int block : {64, 128, 1024}) {
            for (const int rows : {40, 1}) {
                const test::Shape shape{rows, 3, 2, type == KvDtype::q8_0 ? 32 : 40, 1 + int(rng() % 2000), type};
                Problem plain(shape, uint32_t(block)), scattered(shape, uint32_t(block));
                scattered.scatter(block, rng());
                plain.run(kernel, 1);
                scattered.run(kernel, 2);
                CHECK(plain.out == scattered.out);
            }
        }
    });
}

TEST(attention_of_one_row_does_not_depend_on_the_number_of_threads) {
    for_each_kernel([](const AttentionKernel & kernel, KvDtype type) {
        std::minstd_rand rng(11);
        for (int i = 0; i < 12; ++i) {
            // Lengths around the borders between parts of the keys; the only row sees all keys.
            const test::Shape shape = random_shape(rng, type, 1, 700);
            Problem one(shape, uint32_t(i)), three(shape, uint32_t(i));
            one.positions[0] = three.positions[0] = shape.keys - 1;
            one.run(kernel, 1);
            three.run(kernel, 3);
            CHECK(one.out == three.out);
            check_errors(kernel, one, i);
        }
    });
}

#ifdef __linux__
TEST(attention_reads_nothing_beyond_the_last_key) {
    for_each_kernel([](const AttentionKernel & kernel, KvDtype type) {
        for (int head_dim : {32, 36, 40, 72, 80, 96, 100, 128, 256}) {
            if (type == KvDtype::q8_0 && head_dim % 32) continue;
            for (int rows : {1, 5}) {
                Problem p({rows, 3, 2, head_dim, 131, type}, uint32_t(head_dim));
                for (int32_t & x : p.positions) x = 130;
                const Guarded k(p.k), v(p.v);
                p.job.k = k.data, p.job.v = v.data;
                p.run(kernel, 1);
                check_errors(kernel, p, head_dim);
            }
        }
    });
}
#endif

TEST(attention_kernels_agree_with_ggmls) {
    for_each_kernel([](const AttentionKernel & kernel, KvDtype type) {
        std::minstd_rand rng(5);
        for (int i = 0; i < 6; ++i) {
            const int keys = 64 + int(rng() % 300), rows = i == 0 ? 1 : 2 + int(rng() % 90);
            Problem p({rows, 1 + int(rng() % 4), 2, 64 << (rng() % 2), keys, type}, uint32_t(i));
            p.run(kernel, 1);
            const std::vector<float> theirs = p.by_ggml();
            double square = 0, size = 0;
            for (size_t at = 0; at < theirs.size(); ++at) {
                square += std::pow(p.out[at] - theirs[at], 2), size += std::pow(theirs[at], 2);
            }
            // ggml rounds queries to f16 (to q8_0 if keys are q8_0), and some of its sums.
            CHECK(std::sqrt(square / size) < (type == KvDtype::q8_0 ? 3e-2 : 1e-2));
        }
    });
}

TEST(a_faulty_kernel_is_detected) {
    for (const AttentionKernel * kernel : attention_kernels()) {
        CHECK(attention_error(*kernel) < (kernel->bf16 ? 1e-2f : 1e-5f));
        static const AttentionKernel * right;
        right = kernel;
        AttentionKernel wrong = *kernel;
        wrong.run = [](const AttentionJob & job, AttentionTeam & team, int nth, float * scratch) {
            right->run(job, team, nth, scratch);
            job.out[job.rows == 1 ? 0 : job.head_dim * job.n_head - 1] += 0.1f;
        };
        CHECK(attention_error(wrong) > 5e-2f);
        wrong.run = [](const AttentionJob & job, AttentionTeam & team, int nth, float * scratch) {
            right->run(job, team, nth, scratch);
            if (job.type == KvDtype::q8_0) job.out[0] = NAN;
        };
        CHECK(attention_error(wrong) == INFINITY);
    }
}
