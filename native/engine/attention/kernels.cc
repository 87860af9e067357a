#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "kernel.h"

namespace kvasir {

#if defined(__GNUC__) || defined(__clang__)
#define KVASIR_VECTORS 1
#if KVASIR_HAVE_AMX
namespace amx { extern const AttentionKernel kernel; }
#endif
#if KVASIR_HAVE_AVX512BF16
namespace avx512_bf16 { extern const AttentionKernel kernel; }
#endif
#if KVASIR_HAVE_AVX512
namespace avx512 { extern const AttentionKernel kernel; }
#endif
#if KVASIR_HAVE_AVX2
namespace avx2 { extern const AttentionKernel kernel; }
#endif
namespace generic { extern const AttentionKernel kernel; }
namespace amx_emulated { extern const AttentionKernel kernel; }
#endif

int AttentionShare::take() { return next_.fetch_add(1, std::memory_order_relaxed); }

bool AttentionShare::last_to_leave(int nth) {
    if (left_.fetch_add(1, std::memory_order_acq_rel) + 1 < nth) return false;
    next_.store(0, std::memory_order_relaxed), left_.store(0, std::memory_order_relaxed);
    return true;
}

std::vector<const AttentionKernel *> attention_kernels() {
    std::vector<const AttentionKernel *> all;
#if KVASIR_VECTORS
#if KVASIR_HAVE_AMX
    all.push_back(&amx::kernel);
#endif
#if KVASIR_HAVE_AVX512BF16
    all.push_back(&avx512_bf16::kernel);
#endif
#if KVASIR_HAVE_AVX512
    all.push_back(&avx512::kernel);
#endif
#if KVASIR_HAVE_AVX2
    all.push_back(&avx2::kernel);
#endif
    all.push_back(&generic::kernel);
    all.push_back(&amx_emulated::kernel);
#endif
    std::erase_if(all, [](const AttentionKernel * k) { return !k->usable(); });
    return all;
}

float attention_error(const AttentionKernel & kernel) {
#if KVASIR_VECTORS
    constexpr int kRows = 19, kGroup = 3, kHeads = 2, kDim = 72, kKeys = 301;
    std::vector<float> q(size_t(kRows) * kGroup * kHeads * kDim), expected(q.size()), out(q.size());
    std::vector<uint16_t> k(size_t(kKeys) * kHeads * kDim), v(k.size());
    std::vector<int32_t> positions;
    uint32_t state = 1;
    const auto next = [&] { return (state = state * 1664525 + 1013904223) >> 8; };
    for (float & x : q) x = float(next() % 2001) / 1000 - 1;
    for (uint16_t & x : k) x = uint16_t(next() % 0x3C01 | (next() & 1) << 15);  // f16 from −1 to 1
    for (uint16_t & x : v) x = uint16_t(next() % 0x3C01 | (next() & 1) << 15);
    for (int r = 0; r < kRows; ++r) positions.push_back(r * kKeys / kRows);
    float worst = 0;
    for (const int rows : {kRows, 1}) {
        AttentionJob job{};
        job.q = q.data(), job.k = k.data(), job.v = v.data(), job.positions = positions.data() + (kRows - rows);
        job.rows = rows, job.n_head = kGroup * kHeads, job.n_head_kv = kHeads, job.head_dim = kDim;
        job.q_stride = size_t(job.n_head) * kDim, job.scale = 1 / std::sqrt(float(kDim));
        const auto run = [&](const AttentionKernel & each, std::vector<float> & to) {
            job.out = to.data();
            AttentionShare share;
            std::vector<float> memory(each.shared_floats(job, kKeys)), scratch(each.scratch_floats(job) + 16);
            share.memory = memory.data();
            each.run(job, share, 1, reinterpret_cast<float *>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64));
        };
        run(generic::kernel, expected);
        run(kernel, out);
        for (size_t i = 0; i < size_t(rows) * job.n_head * kDim; ++i) {
            if (!std::isfinite(out[i])) return INFINITY;
            worst = std::max(worst, std::fabs(out[i] - expected[i]));
        }
    }
    return worst;
#else
    return INFINITY;
#endif
}

const AttentionKernel * attention_kernel(bool bf16) {
    static const auto choose = [](bool coarse) -> const AttentionKernel * {
        const char * wanted = std::getenv("KVASIR_ATTENTION");
        if (wanted && !*wanted) wanted = nullptr;
        for (const AttentionKernel * k : attention_kernels()) {
            if (wanted ? std::strcmp(k->name, wanted) != 0 : k->bf16 && !coarse) continue;
            // A wrong kernel would answer wrongly without a word: one that this machine computes otherwise is not used.
            if (attention_error(*k) < (k->bf16 ? 1e-2f : 1e-5f)) return k;
        }
        return nullptr;
    };
    static const AttentionKernel *const fastest = choose(true), *const exact = choose(false);
    return bf16 ? fastest : exact;
}

}  // namespace kvasir
