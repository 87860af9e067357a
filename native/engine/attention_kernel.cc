#include "attention_kernel.h"

#include <cstdlib>
#include <cstring>

namespace kvasir {

#if defined(__GNUC__) || defined(__clang__)
#if KVASIR_HAVE_AVX512
namespace avx512 { extern const AttentionKernel kernel; }
#endif
#if KVASIR_HAVE_AVX2
namespace avx2 { extern const AttentionKernel kernel; }
#endif
namespace generic { extern const AttentionKernel kernel; }
#endif

size_t attention_kernels(const AttentionKernel ** out, size_t max) {
    size_t n = 0;
    const auto add = [&](const AttentionKernel & k) {
        if (n < max && k.usable()) out[n++] = &k;
    };
#if defined(__GNUC__) || defined(__clang__)
#if KVASIR_HAVE_AVX512
    add(avx512::kernel);
#endif
#if KVASIR_HAVE_AVX2
    add(avx2::kernel);
#endif
    add(generic::kernel);
#endif
    (void) add;
    return n;
}

const AttentionKernel * attention_kernel() {
    static const AttentionKernel * const chosen = []() -> const AttentionKernel * {
        const AttentionKernel * all[4];
        const size_t n = attention_kernels(all, 4);
        const char * wanted = std::getenv("KVASIR_ATTENTION");
        if (!wanted || !*wanted) return n ? all[0] : nullptr;
        for (size_t i = 0; i < n; ++i)
            if (std::strcmp(all[i]->name, wanted) == 0) return all[i];
        return nullptr;
    }();
    return chosen;
}

}  // namespace kvasir
