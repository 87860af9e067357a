// Every attention kernel this CPU can run against the definition, in double precision, on shapes drawn from a seed.
#include <algorithm>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "engine/attention/kernel.h"
#include "engine/backend.h"
#include "engine/convert.h"
#include "tests/harness.h"

using namespace kvasir;

namespace {

struct Problem {
    AttentionJob job{};
    std::vector<float> q, out;
    std::vector<uint16_t> k, v;
    std::vector<int32_t> positions;

    Problem(int rows, int group, int n_head_kv, int head_dim, int keys, uint32_t seed) {
        std::minstd_rand rng(seed);
        const auto uniform = [&](float spread) { return (float(rng() % 20001) / 10000.0f - 1.0f) * spread; };
        const int n_head = group * n_head_kv;
        q.resize(size_t(rows) * n_head * head_dim);
        for (float & x : q) x = uniform(4);
        std::vector<float> kf(size_t(keys) * n_head_kv * head_dim), vf(kf.size());
        for (float & x : kf) x = uniform(2);
        for (float & x : vf) x = uniform(3);
        k.resize(kf.size()), v.resize(vf.size());
        f32_to_f16(kf.data(), k.data(), kf.size());
        f32_to_f16(vf.data(), v.data(), vf.size());
        for (int r = 0; r < rows; ++r) positions.push_back(int32_t(rng() % uint32_t(keys)));
        std::sort(positions.begin(), positions.end());
        out.assign(q.size(), NAN);
        job.q = q.data(), job.k = k.data(), job.v = v.data(), job.positions = positions.data(), job.out = out.data();
        job.rows = rows, job.n_head = n_head, job.n_head_kv = n_head_kv, job.head_dim = head_dim;
        job.q_stride = size_t(n_head) * head_dim;
        job.scale = 1.0f / std::sqrt(float(head_dim));
    }

    void run(const AttentionKernel & kernel, int threads) {
        std::vector<float> memory(kernel.shared_floats(job, 1 + *std::max_element(job.positions, job.positions + job.rows)));
        AttentionShare share;
        share.memory = memory.data();
        const auto work = [&] {
            std::vector<float> scratch(kernel.scratch_floats(job) + 16);
            kernel.run(job, share, threads, reinterpret_cast<float *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64));
        };
        std::vector<std::thread> others;
        for (int i = 1; i < threads; ++i) others.emplace_back(work);
        work();
        for (std::thread & t : others) t.join();
    }

    double worst_error() const {
        double worst = 0;
        const int hd = job.head_dim, group = job.n_head / job.n_head_kv, kv_dim = job.n_head_kv * hd;
        for (int r = 0; r < job.rows; ++r) {
            for (int h = 0; h < job.n_head; ++h) {
                const int n = positions[size_t(r)] + 1, at = h / group * hd;
                std::vector<double> score(static_cast<size_t>(n)), sum(static_cast<size_t>(hd));
                double top = -INFINITY, total = 0;
                for (int j = 0; j < n; ++j) {
                    double s = 0;
                    for (int d = 0; d < hd; ++d) s += double(q[(size_t(r) * job.n_head + h) * hd + d]) * ggml_half(k[size_t(j) * kv_dim + at + d]);
                    score[size_t(j)] = s * job.scale;
                    top = std::max(top, score[size_t(j)]);
                }
                for (int j = 0; j < n; ++j) {
                    const double p = std::exp(score[size_t(j)] - top);
                    total += p;
                    for (int d = 0; d < hd; ++d) sum[size_t(d)] += p * ggml_half(v[size_t(j) * kv_dim + at + d]);
                }
                for (int d = 0; d < hd; ++d) {
                    const double e = std::fabs(out[(size_t(r) * job.n_head + h) * hd + d] - sum[size_t(d)] / total);
                    if (!std::isfinite(e)) return INFINITY;
                    worst = std::max(worst, e);
                }
            }
        }
        return worst;
    }

    static double ggml_half(uint16_t h) {
        float f;
        f16_to_f32(&h, &f, 1);
        return f;
    }
};

// Of results up to 3, with scores spread so widely that single keys dominate: hard on coarse products.
double bound(const AttentionKernel & kernel) { return kernel.bf16 ? 5e-2 : 5e-5; }

void for_each_kernel(const std::function<void(const AttentionKernel &)> & body) {
    const auto all = attention_kernels();
    CHECK(!all.empty());
    for (const AttentionKernel * k : all) body(*k);
}

}  // namespace

TEST(attention_kernels_agree_with_the_definition) {
    for_each_kernel([](const AttentionKernel & kernel) {
        std::minstd_rand rng(23);
        for (int i = 0; i < 40; ++i) {
            const int group = 1 + int(rng() % 8), heads = 1 + int(rng() % 3), head_dim = 32 + 8 * int(rng() % 29);
            Problem p(1 + int(rng() % 70), group, heads, head_dim, 1 + int(rng() % 400), uint32_t(i + 1));
            p.run(kernel, 1 + int(rng() % 3));
            const double error = p.worst_error();
            if (!(error < bound(kernel))) test::fail(kernel.name, i, "error " + std::to_string(error));
        }
    });
}

TEST(attention_of_a_row_does_not_depend_on_its_company) {
    for_each_kernel([](const AttentionKernel & kernel) {
        Problem all(50, 2, 2, 64, 300, 3), some(50, 2, 2, 64, 300, 3);
        all.run(kernel, 1);
        // Every third row alone with its likes, as blending does.
        std::vector<float> q;
        std::vector<int32_t> positions;
        const size_t width = size_t(all.job.n_head) * 64;
        for (int r = 0; r < 50; r += 3) {
            q.insert(q.end(), all.q.begin() + std::ptrdiff_t(r * width), all.q.begin() + std::ptrdiff_t((r + 1) * width));
            positions.push_back(all.positions[size_t(r)]);
        }
        some.job.q = q.data(), some.job.positions = positions.data(), some.job.rows = int(positions.size());
        some.run(kernel, 2);
        for (int i = 0; i < some.job.rows; ++i) {
            CHECK(std::equal(some.out.begin() + std::ptrdiff_t(i * width), some.out.begin() + std::ptrdiff_t((i + 1) * width),
                             all.out.begin() + std::ptrdiff_t(3 * i * width)));
        }
    });
}

TEST(attention_never_reads_keys_behind_the_last_position) {
    for_each_kernel([](const AttentionKernel & kernel) {
        Problem p(20, 2, 1, 64, 200, 5);
        for (int32_t & x : p.positions) x = std::min(x, 100);
        for (size_t i = 101 * 64; i < p.k.size(); ++i) p.k[i] = p.v[i] = 0x7E00;  // NaN
        p.run(kernel, 1);
        CHECK(p.worst_error() < bound(kernel));
    });
}

TEST(attention_over_scattered_blocks_is_that_over_contiguous_keys_bit_for_bit) {
    for_each_kernel([](const AttentionKernel & kernel) {
        std::minstd_rand rng(7);
        for (int block : {64, 128, 1024}) {
            const int keys = 1 + int(rng() % 2000), kv_dim = 2 * 40, blocks = (keys + block - 1) / block;
            Problem plain(40, 3, 2, 40, keys, uint32_t(block)), scattered(40, 3, 2, 40, keys, uint32_t(block));
            // Blocks of the pool in any order, with NaN wherever no key stands.
            std::vector<int32_t> table;
            for (int i = 0; i < blocks + 3; ++i) table.push_back(i);
            std::shuffle(table.begin(), table.end(), rng);
            std::vector<uint16_t> k(table.size() * size_t(block) * kv_dim, 0x7E00), v(k);
            for (int p = 0; p < keys; ++p) {
                const size_t slot = size_t(table[size_t(p / block)]) * block + p % block;
                std::copy_n(plain.k.begin() + std::ptrdiff_t(p) * kv_dim, kv_dim, k.begin() + std::ptrdiff_t(slot) * kv_dim);
                std::copy_n(plain.v.begin() + std::ptrdiff_t(p) * kv_dim, kv_dim, v.begin() + std::ptrdiff_t(slot) * kv_dim);
            }
            scattered.job.k = k.data(), scattered.job.v = v.data(), scattered.job.blocks = table.data(), scattered.job.block_tokens = block;
            plain.run(kernel, 1);
            scattered.run(kernel, 2);
            CHECK(plain.out == scattered.out);
        }
    });
}

TEST(attention_of_one_row_does_not_depend_on_the_number_of_threads) {
    for_each_kernel([](const AttentionKernel & kernel) {
        std::minstd_rand rng(11);
        for (int i = 0; i < 12; ++i) {
            // Lengths on both sides of where parts of the keys end; the only row sees them all.
            const int keys = 1 + int(rng() % 700), group = 1 + int(rng() % 9), head_dim = 32 + 4 * int(rng() % 57);
            Problem one(1, group, 2, head_dim, keys, uint32_t(i)), three(1, group, 2, head_dim, keys, uint32_t(i));
            one.positions[0] = three.positions[0] = keys - 1;
            one.run(kernel, 1);
            three.run(kernel, 3);
            CHECK(one.out == three.out);
            const double error = one.worst_error();
            if (!(error < 5e-5)) test::fail(kernel.name, i, "error " + std::to_string(error));  // f32 in all of them
        }
    });
}

#ifdef __linux__
namespace {
// A copy that ends where memory ends: reading one byte more is a fault.
struct Guarded {
    size_t page = size_t(sysconf(_SC_PAGESIZE)), size;
    char * base;
    uint16_t * data;

    explicit Guarded(const std::vector<uint16_t> & from) : size((from.size() * 2 + page - 1) / page * page) {
        base = static_cast<char *>(mmap(nullptr, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        mprotect(base + size, page, PROT_NONE);
        data = reinterpret_cast<uint16_t *>(base + size) - from.size();
        std::copy(from.begin(), from.end(), data);
    }
    ~Guarded() { munmap(base, size + page); }
};
}  // namespace

TEST(attention_reads_nothing_beyond_the_last_key) {
    for_each_kernel([](const AttentionKernel & kernel) {
        for (int head_dim : {32, 36, 40, 72, 80, 96, 100, 128, 256}) {
            for (int rows : {1, 5}) {
                Problem p(rows, 3, 2, head_dim, 131, uint32_t(head_dim));
                for (int32_t & x : p.positions) x = 130;
                const Guarded k(p.k), v(p.v);
                p.job.k = k.data, p.job.v = v.data;
                p.run(kernel, 1);
                CHECK(p.worst_error() < bound(kernel));
            }
        }
    });
}
#endif

// The same problem through ggml's flash attention.
static std::vector<float> by_ggml(const Problem & p, int keys) {
    const AttentionJob & j = p.job;
    Compute cpu(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU), 1);
    ContextPtr ctx = make_context(32), graph = ContextPtr(ggml_init({1 << 20, nullptr, true}));
    ggml_context * c = ctx.get();
    ggml_tensor * q = ggml_new_tensor_3d(c, GGML_TYPE_F32, j.head_dim, j.n_head, j.rows);
    ggml_tensor * k = ggml_new_tensor_3d(c, GGML_TYPE_F16, j.head_dim, j.n_head_kv, keys);
    ggml_tensor * v = ggml_new_tensor_3d(c, GGML_TYPE_F16, j.head_dim, j.n_head_kv, keys);
    ggml_tensor * mask = ggml_new_tensor_2d(c, GGML_TYPE_F16, keys, j.rows);
    BufferPtr buffer = allocate(c, cpu.buffer_type());
    std::vector<uint16_t> m(size_t(keys) * j.rows);
    for (int r = 0; r < j.rows; ++r)
        for (int i = 0; i < keys; ++i) m[size_t(r) * keys + i] = i <= p.positions[size_t(r)] ? 0 : 0xFC00;
    ggml_backend_tensor_set(q, p.q.data(), 0, ggml_nbytes(q));
    ggml_backend_tensor_set(k, p.k.data(), 0, ggml_nbytes(k));
    ggml_backend_tensor_set(v, p.v.data(), 0, ggml_nbytes(v));
    ggml_backend_tensor_set(mask, m.data(), 0, ggml_nbytes(mask));
    ggml_context * g = graph.get();
    const auto heads = [&](ggml_tensor * t) { return ggml_permute(g, t, 0, 2, 1, 3); };
    ggml_tensor * y = ggml_flash_attn_ext(g, heads(q), heads(k), heads(v), mask, j.scale, 0, 0);
    ggml_set_output(y);
    ggml_cgraph * work = ggml_new_graph_custom(g, 16, false);
    ggml_build_forward_expand(work, y);
    cpu.prepare(work);
    cpu.run(work, nullptr);
    std::vector<float> out(p.q.size());
    ggml_backend_tensor_get(y, out.data(), 0, ggml_nbytes(y));
    return out;
}

TEST(attention_kernels_agree_with_ggmls) {
    for_each_kernel([](const AttentionKernel & kernel) {
        std::minstd_rand rng(5);
        for (int i = 0; i < 6; ++i) {
            const int keys = 64 + int(rng() % 300), rows = i == 0 ? 1 : 2 + int(rng() % 90);
            Problem p(rows, 1 + int(rng() % 4), 2, 64 << (rng() % 2), keys, uint32_t(i));
            p.run(kernel, 1);
            const std::vector<float> theirs = by_ggml(p, keys);
            double square = 0, size = 0;
            for (size_t at = 0; at < theirs.size(); ++at) square += std::pow(p.out[at] - theirs[at], 2), size += std::pow(theirs[at], 2);
            CHECK(std::sqrt(square / size) < 1e-2);  // ggml rounds queries to f16, and some of its sums
        }
    });
}

TEST(a_kernel_that_computes_wrongly_is_found_out) {
    for_each_kernel([](const AttentionKernel & kernel) {
        CHECK(attention_error(kernel) < (kernel.bf16 ? 1e-2f : 1e-5f));
        static const AttentionKernel * right;
        right = &kernel;
        AttentionKernel wrong = kernel;
        wrong.run = [](const AttentionJob & job, AttentionShare & share, int nth, float * scratch) {
            right->run(job, share, nth, scratch);
            job.out[job.rows == 1 ? 0 : job.head_dim * job.n_head - 1] += 0.1f;
        };
        CHECK(attention_error(wrong) > 5e-2f);
        wrong.run = [](const AttentionJob & job, AttentionShare & share, int nth, float * scratch) {
            right->run(job, share, nth, scratch);
            job.out[0] = NAN;
        };
        CHECK(attention_error(wrong) == INFINITY);
    });
}
