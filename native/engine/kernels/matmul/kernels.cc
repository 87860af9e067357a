#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>

#include "engine/aligned.h"
#include "engine/devices/backend.h"
#include "engine/devices/device.h"
#include "engine/kernels/simd/instruction_sets.h"
#include "kernel.h"

namespace kvasir {

// Fastest first; that with emulated tiles is for tests.
#define KERNELS(KERNEL)                                     \
    KVASIR_IF_AMX(KERNEL(matmul_amx, kernel))               \
    KVASIR_IF_AVX512VNNI(KERNEL(matmul_avx512vnni, bytes_kernel)) \
    KVASIR_IF_AVX512BF16(KERNEL(matmul_avx512bf16, kernel)) \
    KVASIR_IF_AVX512VNNI(KERNEL(matmul_avx512vnni, kernel)) \
    KVASIR_IF_AVX512(KERNEL(matmul_avx512, kernel))         \
    KVASIR_IF_AVXVNNI(KERNEL(matmul_avxvnni, bytes_kernel) KERNEL(matmul_avxvnni, kernel)) \
    KVASIR_IF_AVX2(KERNEL(matmul_avx2, int16_kernel) KERNEL(matmul_avx2, kernel)) \
    KVASIR_IF_AVX512BF16(KERNEL(matmul_amx_emulated, kernel))

#define DECLARE(isa, kernel) namespace isa { extern const MatmulKernel kernel; }
KERNELS(DECLARE)

// The same for rows apart: with weights in blocks of 32, and of 256.
#define APART_KERNELS(KERNEL)                                     \
    KVASIR_IF_AVX512VNNI(KERNEL(matmul_avx512vnni, apart_kernel)) \
    KVASIR_IF_AVXVNNI(KERNEL(matmul_avxvnni, apart_kernel))       \
    KVASIR_IF_AVX2(KERNEL(matmul_avx2, apart_kernel))
APART_KERNELS(DECLARE)
KVASIR_IF_AVX2(DECLARE(matmul_avx2, apart_256_kernel))

#define ADDRESS(isa, kernel) &isa::kernel,

namespace {
// Includes kernels that this machine cannot run.
std::vector<const MatmulKernel *> compiled_kernels() { return {KERNELS(ADDRESS)}; }
}  // namespace

std::vector<const MatmulKernel *> matmul_kernels() {
    auto all = compiled_kernels();
    std::erase_if(all, [](const MatmulKernel * k) { return !k->usable(); });
    return all;
}

std::vector<ggml_type> matmul_types() {
    return {GGML_TYPE_F16,  GGML_TYPE_BF16, GGML_TYPE_Q8_0, GGML_TYPE_Q4_0, GGML_TYPE_Q4_1, GGML_TYPE_Q5_0,
            GGML_TYPE_Q5_1, GGML_TYPE_Q2_K, GGML_TYPE_Q3_K, GGML_TYPE_Q4_K, GGML_TYPE_Q5_K, GGML_TYPE_Q6_K};
}

namespace {
// Weights in the format of a buffer type.
struct BufferWeights {
    ContextPtr ctx;
    BufferPtr buffer;
    ggml_tensor * tensor = nullptr;
    BufferWeights(ggml_backend_buffer_type_t memory, ggml_type type, int width, int outputs,
                  const std::vector<uint8_t> & bytes) {
        if (!memory) return;
        ctx = make_context(1);
        tensor = ggml_new_tensor_2d(ctx.get(), type, width, outputs);
        buffer = allocate_tensors(ctx.get(), memory);
        ggml_backend_tensor_set(tensor, bytes.data(), 0, bytes.size());
    }
};
}  // namespace

std::vector<float> packed_rows(const MatmulKernel & kernel, const std::vector<float> & x, int width) {
    if (!kernel.pack_row) return x;
    const size_t count = x.size() / size_t(width), cells = kernel.cells(width);
    std::vector<float> rows(count * cells);
    for (size_t r = 0; r < count; ++r) kernel.pack_row(x.data() + r * size_t(width), width, rows.data() + r * cells);
    return rows;
}

namespace {
// The problem that kernels are tested on: the same numbers every time.
struct SmallProblem {
    ggml_type type;
    int width, outputs, count;
    std::vector<float> w, x;  // [outputs][width] before quantisation, [count][width]
    std::vector<uint8_t> weights;

    SmallProblem(ggml_type t, int width_, int outputs_, int count_)
        : type(t),
          width(width_),
          outputs(outputs_),
          count(count_),
          w(size_t(width_) * size_t(outputs_)),
          x(size_t(width_) * size_t(count_)),
          weights(ggml_row_size(t, width_) * size_t(outputs_)) {
        uint32_t state = 1;
        const auto next = [&] { return float((state = state * 1664525 + 1013904223) >> 8) / float(1 << 23) - 1; };
        for (float & value : w) value = next();
        for (float & value : x) value = next();
        ggml_quantize_chunk(t, w.data(), weights.data(), 0, outputs, width, nullptr);
    }
};
}  // namespace

double matmul_error(const MatmulKernel & kernel, ggml_type type, ggml_backend_buffer_type_t memory) {
    constexpr int kWidth = 1280, kOutputs = 16, kCount = 13;  // deeper than a panel
    SmallProblem p(type, kWidth, kOutputs, kCount);
    std::vector<float> &w = p.w, &x = p.x, out(size_t(kOutputs) * kCount, NAN);
    const std::vector<uint8_t> & packed = p.weights;
    ggml_get_type_traits(type)->to_float(packed.data(), w.data(), int64_t(w.size()));
    const std::vector<float> rows = packed_rows(kernel, x, kWidth);
    std::vector<uint8_t> scratch(kernel.scratch_bytes + 64);
    MatmulJob job{type, packed.data(), rows.data(), out.data(), kWidth, kOutputs, kCount};
    const BufferWeights in_buffer(memory, type, kWidth, kOutputs, packed);
    if (memory) job.weights = static_cast<const uint8_t *>(in_buffer.tensor->data), job.repacked = true;
    for (int ith = 0; ith < 3; ++ith) kernel.run(job, ith, 3, align_64(scratch.data()));
    double worst = 0, largest = 0;
    for (int r = 0; r < kCount; ++r) {
        for (int o = 0; o < kOutputs; ++o) {
            double sum = 0;
            for (int i = 0; i < kWidth; ++i) {
                sum += double(w[size_t(o) * kWidth + size_t(i)]) * double(x[size_t(r) * kWidth + size_t(i)]);
            }
            const double error = std::abs(sum - double(out[size_t(r) * kOutputs + size_t(o)]));
            if (!std::isfinite(error)) return INFINITY;
            worst = std::max(worst, error), largest = std::max(largest, std::abs(sum));
        }
    }
    return worst / largest;
}

namespace {

// The kernel for weights of each type in plain memory (null) or in ggml's CPU_REPACK, chosen at first use.
class Choices {
  public:
    using Choose = const MatmulKernel * (*)(ggml_type, ggml_backend_buffer_type_t);
    explicit Choices(Choose choose) : choose_(choose) {}
    const MatmulKernel * of(ggml_type type, ggml_backend_buffer_type_t memory) {
        if (memory && std::strcmp(ggml_backend_buft_name(memory), "CPU_REPACK") != 0) return nullptr;
        const std::lock_guard lock(mutex_);
        auto & kernel = chosen_[memory != nullptr][size_t(type)];
        if (!kernel) kernel = choose_(type, memory);
        return *kernel;
    }

  private:
    const Choose choose_;
    std::mutex mutex_;
    std::array<std::array<std::optional<const MatmulKernel *>, GGML_TYPE_COUNT>, 2> chosen_;
};

const MatmulKernel * choose(ggml_type type, ggml_backend_buffer_type_t) {
    const std::vector<ggml_type> types = matmul_types();
    if (std::find(types.begin(), types.end(), type) == types.end()) return nullptr;
    const char * wanted = std::getenv("KVASIR_MATMUL");
    if (wanted && !*wanted) wanted = nullptr;
    bool reached = !wanted;
    // If the named kernel is not available here, the next slower one is used.
    for (const MatmulKernel * k : compiled_kernels()) {
        reached = reached || std::strcmp(k->name, wanted) == 0;
        // Rounding kernels only take weights that already have fewer bits.
        if (!reached || !k->usable() || (k->rounds() && type == GGML_TYPE_F16)) continue;
        if (k->bytes() && type == GGML_TYPE_BF16) continue;
        // A faulty kernel would give wrong answers silently, so a kernel that exceeds its tolerance here is not used.
        if (matmul_error(*k, type) < k->tolerance) return k;
    }
    return nullptr;
}

}  // namespace

const MatmulKernel * matmul_kernel(ggml_type type) {
    static Choices choices(choose);
    return choices.of(type, nullptr);
}

#ifdef KVASIR_HAVE_AVX2
namespace {

// [count][outputs]: each row multiplied alone by ggml.
std::vector<float> products_of_ggml(const SmallProblem & p, const BufferWeights & w) {
    Device cpu(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU), 1);
    ggml_context * c = cpu.graph_context();
    ggml_tensor * rows = ggml_new_tensor_3d(c, GGML_TYPE_F32, p.width, 1, p.count);
    ggml_set_input(rows);
    ggml_tensor * y = ggml_mul_mat(c, w.tensor, rows);
    ggml_set_output(y);
    ggml_cgraph * graph = ggml_new_graph(c);
    ggml_build_forward_expand(graph, y);
    cpu.prepare(graph);
    ggml_backend_tensor_set(rows, p.x.data(), 0, p.x.size() * sizeof(float));
    cpu.run(graph, nullptr);
    std::vector<float> out(size_t(p.outputs) * size_t(p.count));
    ggml_backend_tensor_get(y, out.data(), 0, out.size() * sizeof(float));
    return out;
}

bool has_ggml_s_bits(const MatmulKernel & kernel, ggml_type type, ggml_backend_buffer_type_t memory) {
    // If possible, none is a multiple of the kernel's block sizes.
    const SmallProblem p(type, ggml_blck_size(type) == 32 ? 1120 : 1280, 48, 11);
    const BufferWeights weights(memory ? memory : ggml_backend_cpu_buffer_type(), type, p.width, p.outputs, p.weights);
    const std::vector<float> rows = packed_rows(kernel, p.x, p.width);
    std::vector<float> out(size_t(p.outputs) * size_t(p.count));
    std::vector<uint8_t> scratch(kernel.scratch_bytes + 64);
    kernel.run({p.type, static_cast<const uint8_t *>(weights.tensor->data), rows.data(), out.data(), p.width, p.outputs,
                p.count, memory != nullptr},
               0, 1, align_64(scratch.data()));
    return out == products_of_ggml(p, weights);
}

}  // namespace

std::vector<const MatmulKernel *> matmul_kernels_apart(ggml_type type, ggml_backend_buffer_type_t memory) {
    std::vector<const MatmulKernel *> all;
    switch (type) {
        case GGML_TYPE_Q4_0:
        case GGML_TYPE_Q4_1:
        case GGML_TYPE_Q5_0:
        case GGML_TYPE_Q5_1:
        case GGML_TYPE_Q8_0:
            if (!memory) all = {APART_KERNELS(ADDRESS)};
            break;
        case GGML_TYPE_Q4_K:
            if (memory) all = {&matmul_avx2::apart_256_kernel};
            break;
        case GGML_TYPE_Q5_K:
        case GGML_TYPE_Q6_K:
            if (!memory) all = {&matmul_avx2::apart_256_kernel};
            break;
        default: break;
    }
    std::erase_if(all, [&](const MatmulKernel * k) { return !k->usable() || !has_ggml_s_bits(*k, type, memory); });
    return all;
}
#else
std::vector<const MatmulKernel *> matmul_kernels_apart(ggml_type, ggml_backend_buffer_type_t) { return {}; }
#endif

const MatmulKernel * matmul_kernel_apart(ggml_type type, ggml_backend_buffer_type_t memory) {
    static Choices choices([](ggml_type t, ggml_backend_buffer_type_t m) -> const MatmulKernel * {
        const char * wanted = std::getenv("KVASIR_MATMUL");
        if (wanted && std::strcmp(wanted, "ggml") == 0) return nullptr;
        const auto all = matmul_kernels_apart(t, m);
        return all.empty() ? nullptr : all.front();
    });
    return choices.of(type, memory);
}

const MatmulKernel * matmul_kernel_repacked(ggml_type type, ggml_backend_buffer_type_t memory) {
    static Choices choices([](ggml_type t, ggml_backend_buffer_type_t m) -> const MatmulKernel * {
        if (t != GGML_TYPE_Q4_K && t != GGML_TYPE_Q4_0) return nullptr;
        const MatmulKernel * kernel = matmul_kernel(t);
        if (!kernel || !kernel->rounds()) return nullptr;  // in f32, ggml is as fast
        return matmul_error(*kernel, t, m) < kernel->tolerance ? kernel : nullptr;
    });
    return choices.of(type, memory);
}

}  // namespace kvasir
