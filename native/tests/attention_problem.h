#pragma once
// Attention problems drawn from a seed, with their results in double precision and from ggml's attention. For the tests
// of the attention kernels and the tool that measures their accuracy.
#include <algorithm>
#include <cmath>
#include <random>
#include <thread>
#include <vector>

#include "engine/aligned.h"
#include "engine/devices/device.h"
#include "engine/kernels/attention/kernel.h"
#include "engine/kernels/convert.h"

namespace kvasir::test {

struct Shape {
    int rows, group, n_head_kv, head_dim, keys;
    KvDtype type = KvDtype::f16;
};

// Any head size that the kernels support, any length, rows at any positions.
inline Shape random_shape(std::minstd_rand & rng, KvDtype type, int most_rows, int most_keys) {
    const auto up_to = [&](int n) { return 1 + int(rng() % uint32_t(n)); };
    const int head_dim = type == KvDtype::q8_0 ? 32 * up_to(8) : 31 + up_to(225);
    const int rows = up_to(most_rows), group = up_to(8);
    const int n_head_kv = type == KvDtype::f16 && head_dim % 2 ? 2 : up_to(3);
    return {rows, group, n_head_kv, head_dim, up_to(most_keys), type};
}

struct Errors {
    double largest = 0, sum = 0;
    size_t n = 0;
    double mean() const { return n ? sum / double(n) : 0; }
    void add(double e) { largest = std::isfinite(e) ? std::max(largest, e) : INFINITY, sum += e, ++n; }
    void add(const Errors & e) { largest = std::max(largest, e.largest), sum += e.sum, n += e.n; }
};

// Results are up to 3. Scores are spread so widely that single keys dominate, which is hard on coarse products.
struct Problem {
    AttentionJob job{};
    Shape shape;
    std::vector<float> q, out, sinks;
    std::vector<float> kf, vf;   // the exact values in k and v
    std::vector<uint8_t> k, v;
    std::vector<int32_t> positions, table;

    Problem(const Shape & s, uint32_t seed) : shape(s) {
        std::minstd_rand rng(seed);
        const auto uniform = [&](float spread) { return (float(rng() % 20001) / 10000.0f - 1.0f) * spread; };
        const int n_head = s.group * s.n_head_kv;
        q.resize(size_t(s.rows) * n_head * s.head_dim);
        for (float & x : q) x = uniform(4);
        kf.resize(size_t(s.keys) * s.n_head_kv * s.head_dim), vf.resize(kf.size());
        for (float & x : kf) x = uniform(2);
        for (float & x : vf) x = uniform(3);
        k = kept(kf), v = kept(vf);
        for (int r = 0; r < s.rows; ++r) positions.push_back(int32_t(rng() % uint32_t(s.keys)));
        if (seed % 2) std::sort(positions.begin(), positions.end());
        out.assign(q.size(), NAN);
        job.q = q.data(), job.k = k.data(), job.v = v.data(), job.type = s.type, job.positions = positions.data(),
        job.out = out.data();
        job.rows = s.rows, job.n_head = n_head, job.n_head_kv = s.n_head_kv, job.head_dim = s.head_dim;
        job.q_stride = size_t(n_head) * s.head_dim;
        job.scale = 1.0f / std::sqrt(float(s.head_dim));
    }
    Problem(const Problem &) = delete;

    // Each row sees the last `window` keys, and optionally a sink for every head; scores are capped unless `softcap` is
    // 0.
    void narrow(int window, bool with_sinks, uint32_t seed, float softcap = 0) {
        std::minstd_rand rng(seed);
        job.window = window, job.softcap = softcap;
        sinks.clear();
        for (int h = 0; h < job.n_head; ++h) sinks.push_back(float(rng() % 1000) / 100.0f - 5.0f);
        job.sinks = with_sinks ? sinks.data() : nullptr;
    }

    size_t row_bytes() const {
        return ggml_row_size(dtype_ggml(shape.type), int64_t(shape.n_head_kv) * shape.head_dim);
    }

    // Moves the keys into the blocks of a pool in random order, with NaN in all unused rows.
    void scatter(int block, uint32_t seed) {
        std::minstd_rand rng(seed);
        table.clear();
        for (int i = 0; i < (shape.keys + block - 1) / block + 3; ++i) table.push_back(i);
        std::shuffle(table.begin(), table.end(), rng);
        for (auto * cache : {&k, &v}) {
            // NaN in f16, and as the scale of q8_0.
            std::vector<uint8_t> pool(table.size() * size_t(block) * row_bytes(), 0x7E);
            for (int p = 0; p < shape.keys; ++p) {
                const size_t slot = size_t(table[size_t(p / block)]) * size_t(block) + size_t(p % block);
                std::copy_n(cache->begin() + std::ptrdiff_t(size_t(p) * row_bytes()), row_bytes(),
                            pool.begin() + std::ptrdiff_t(slot * row_bytes()));
            }
            *cache = std::move(pool);
        }
        job.k = k.data(), job.v = v.data(), job.blocks = table.data(), job.block_tokens = block;
    }

    void run(const AttentionKernel & kernel, int threads) {
        std::vector<float> memory(
            kernel.shared_floats(job, 1 + *std::max_element(job.positions, job.positions + job.rows)));
        AttentionTeam team;
        team.memory = memory.data();
        const auto work = [&] {
            std::vector<float> scratch(kernel.scratch_floats(job) + 16);
            kernel.run(job, team, threads, align_64(scratch.data()));
        };
        std::vector<std::thread> others;
        for (int i = 1; i < threads; ++i) others.emplace_back(work);
        work();
        for (std::thread & t : others) t.join();
    }

    // The definition: [rows][n_head][head_dim].
    std::vector<double> expected() const {
        std::vector<double> result;
        const int hd = job.head_dim, group = job.n_head / job.n_head_kv, kv_dim = job.n_head_kv * hd;
        for (int r = 0; r < job.rows; ++r) {
            for (int h = 0; h < job.n_head; ++h) {
                const int n = job.positions[r] + 1, at = h / group * hd;
                const int first = job.window ? std::max(0, n - job.window) : 0;
                const float * query = job.q + size_t(r) * job.q_stride + size_t(h) * hd;
                std::vector<double> score(static_cast<size_t>(n)), sum(static_cast<size_t>(hd));
                double top = job.sinks ? double(job.sinks[h]) : -INFINITY, total = 0;
                for (int j = first; j < n; ++j) {
                    double s = 0;
                    for (int d = 0; d < hd; ++d) s += double(query[d]) * double(kf[size_t(j) * kv_dim + at + d]);
                    s *= job.scale;
                    score[size_t(j)] = job.softcap != 0 ? job.softcap * std::tanh(s / job.softcap) : s;
                    top = std::max(top, score[size_t(j)]);
                }
                if (job.sinks) total = std::exp(double(job.sinks[h]) - top);
                for (int j = first; j < n; ++j) {
                    const double p = std::exp(score[size_t(j)] - top);
                    total += p;
                    for (int d = 0; d < hd; ++d) sum[size_t(d)] += p * double(vf[size_t(j) * kv_dim + at + d]);
                }
                for (const double x : sum) result.push_back(x / total);
            }
        }
        return result;
    }

    Errors errors(const std::vector<float> & results) const {
        Errors all;
        const std::vector<double> right = expected();
        for (size_t i = 0; i < right.size(); ++i) all.add(std::fabs(results[i] - right[i]));
        return all;
    }
    double worst_error() const { return errors(out).largest; }

    // The result of ggml's flash attention. Not for scattered keys.
    std::vector<float> by_ggml() const {
        Device cpu(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU), 1);
        ContextPtr ctx = make_context(32), graph = ContextPtr(ggml_init({1 << 20, nullptr, true}));
        ggml_context * c = ctx.get();
        ggml_tensor * tq = ggml_new_tensor_3d(c, GGML_TYPE_F32, job.head_dim, job.n_head, job.rows);
        ggml_tensor * tk = ggml_new_tensor_3d(c, dtype_ggml(shape.type), job.head_dim, job.n_head_kv, shape.keys);
        ggml_tensor * tv = ggml_new_tensor_3d(c, dtype_ggml(shape.type), job.head_dim, job.n_head_kv, shape.keys);
        ggml_tensor * mask = ggml_new_tensor_2d(c, GGML_TYPE_F16, shape.keys, job.rows);
        BufferPtr buffer = allocate_tensors(c, cpu.memory().type());
        std::vector<uint16_t> m(size_t(shape.keys) * size_t(job.rows));
        for (int r = 0; r < job.rows; ++r)
            for (int i = 0; i < shape.keys; ++i) {
                m[size_t(r) * size_t(shape.keys) + size_t(i)] = i <= positions[size_t(r)] ? 0 : 0xFC00;
            }
        ggml_backend_tensor_set(tq, q.data(), 0, ggml_nbytes(tq));
        ggml_backend_tensor_set(tk, k.data(), 0, ggml_nbytes(tk));
        ggml_backend_tensor_set(tv, v.data(), 0, ggml_nbytes(tv));
        ggml_backend_tensor_set(mask, m.data(), 0, ggml_nbytes(mask));
        ggml_context * g = graph.get();
        const auto heads = [&](ggml_tensor * t) { return ggml_permute(g, t, 0, 2, 1, 3); };
        ggml_tensor * y = ggml_flash_attn_ext(g, heads(tq), heads(tk), heads(tv), mask, job.scale, 0, 0);
        ggml_set_output(y);
        ggml_cgraph * work = ggml_new_graph_custom(g, 16, false);
        ggml_build_forward_expand(work, y);
        cpu.prepare(work);
        cpu.run(work, nullptr);
        std::vector<float> results(q.size());
        ggml_backend_tensor_get(y, results.data(), 0, ggml_nbytes(y));
        return results;
    }

  private:
    // Converts the numbers to their stored bytes, and replaces them with the rounded values.
    std::vector<uint8_t> kept(std::vector<float> & numbers) const {
        std::vector<uint8_t> bytes(ggml_row_size(dtype_ggml(shape.type), int64_t(numbers.size())));
        kv_from_f32(shape.type, numbers.data(), bytes.data(), numbers.size());
        kv_to_f32(shape.type, bytes.data(), numbers.data(), numbers.size());
        return bytes;
    }
};

}  // namespace kvasir::test
