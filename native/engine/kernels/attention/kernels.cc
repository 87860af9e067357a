#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "engine/aligned.h"
#include "engine/kernels/simd/instruction_sets.h"
#include "kernel.h"

namespace kvasir {

// Fastest first; the last is only for tests.
#define KERNELS(KERNEL)                       \
    KVASIR_IF_AMX(KERNEL(amx))                \
    KVASIR_IF_AVX512BF16(KERNEL(avx512_bf16)) \
    KVASIR_IF_AVX512(KERNEL(avx512))          \
    KVASIR_IF_AVX2(KERNEL(avx2))              \
    KVASIR_IF_VECTORS(KERNEL(generic) KERNEL(amx_emulated))

#define DECLARE(isa) namespace isa { extern const AttentionKernel kernel; }
KERNELS(DECLARE)

int AttentionTeam::next() { return next_.fetch_add(1, std::memory_order_relaxed); }

bool AttentionTeam::last_to_leave(int nth) {
    if (left_.fetch_add(1, std::memory_order_acq_rel) + 1 < nth) return false;
    next_.store(0, std::memory_order_relaxed), left_.store(0, std::memory_order_relaxed);
    return true;
}

namespace {
// Includes kernels that this machine cannot run.
std::vector<const AttentionKernel *> compiled_kernels() {
#define ADDRESS(isa) &isa::kernel,
    return {KERNELS(ADDRESS)};
}
}  // namespace

std::vector<const AttentionKernel *> attention_kernels() {
    auto all = compiled_kernels();
    std::erase_if(all, [](const AttentionKernel * k) { return !k->usable(); });
    return all;
}

#ifdef KVASIR_HAVE_VECTORS
namespace {
// Keys or values from −1 to 1.
std::vector<uint8_t> some_cache(KvDtype type, size_t n, uint32_t & state) {
    const auto next = [&] { return (state = state * 1664525 + 1013904223) >> 8; };
    std::vector<uint8_t> out;
    const auto put = [&](uint32_t half) { out.push_back(uint8_t(half)), out.push_back(uint8_t(half >> 8)); };
    for (size_t i = 0; i < n; ++i) {
        if (type == KvDtype::f16) put(next() % 0x3C01 | (next() & 1) << 15);
        else if (i % 32 == 0) put(0x2008);  // 1 / 127
        if (type == KvDtype::q8_0) out.push_back(uint8_t(next() % 255 - 127));
    }
    return out;
}

float error_with(const AttentionKernel & kernel, KvDtype type, int all_rows) {
    constexpr int kGroup = 3, kHeads = 2, kKeys = 301;
    const int dim = type == KvDtype::q8_0 ? 96 : 72;
    const size_t width = size_t(kGroup) * kHeads * size_t(dim);
    uint32_t state = 1;
    std::vector<float> q(size_t(all_rows) * width), expected(q.size()), out(q.size());
    for (float & x : q) x = float(((state = state * 1664525 + 1013904223) >> 8) % 2001) / 1000 - 1;
    const auto k = some_cache(type, size_t(kKeys * kHeads * dim), state),
               v = some_cache(type, size_t(kKeys * kHeads * dim), state);
    std::vector<int32_t> positions;
    for (int r = 1; r <= all_rows; ++r) positions.push_back(r * kKeys / all_rows - 1);
    AttentionJob job{};
    job.q = q.data(), job.k = k.data(), job.v = v.data(), job.type = type, job.positions = positions.data();
    job.rows = all_rows, job.n_head = kGroup * kHeads, job.n_head_kv = kHeads, job.head_dim = dim;
    job.q_stride = width, job.scale = 1 / std::sqrt(float(dim));
    const auto run = [&](const AttentionKernel & each, std::vector<float> & to) {
        job.out = to.data();
        AttentionTeam team;
        std::vector<float> memory(each.shared_floats(job, kKeys)), scratch(each.scratch_floats(job) + 16);
        team.memory = memory.data();
        each.run(job, team, 1, align_64(scratch.data()));
    };
    run(generic::kernel, expected);
    run(kernel, out);
    float worst = 0;
    for (size_t i = 0; i < out.size(); ++i) {
        if (!std::isfinite(out[i])) return INFINITY;
        worst = std::max(worst, std::fabs(out[i] - expected[i]));
    }
    return worst;
}
}  // namespace
#endif

float attention_error(const AttentionKernel & kernel) {
    float worst = INFINITY;
#ifdef KVASIR_HAVE_VECTORS
    worst = 0;
    for (const KvDtype type : {KvDtype::f16, KvDtype::q8_0})
        for (const int rows : {19, 1}) worst = std::max(worst, error_with(kernel, type, rows));
#endif
    return worst;
}

const AttentionKernel * attention_kernel(bool bf16) {
    static const auto choose = [](bool coarse) -> const AttentionKernel * {
        const char * wanted = std::getenv("KVASIR_ATTENTION");
        if (wanted && !*wanted) wanted = nullptr;
        bool reached = !wanted;
        // If the named kernel is not available here, the next slower one is used.
        for (const AttentionKernel * k : compiled_kernels()) {
            reached = reached || std::strcmp(k->name, wanted) == 0;
            if (!reached || !k->usable() || (k->bf16 && !coarse)) continue;
            // A faulty kernel would give wrong answers silently, so a kernel that disagrees with the portable one is
            // not used.
            if (attention_error(*k) < (k->bf16 ? 1e-2f : 1e-5f)) return k;
        }
        return nullptr;
    };
    static const AttentionKernel *const fastest = choose(true), *const exact = choose(false);
    return bf16 ? fastest : exact;
}

}  // namespace kvasir
