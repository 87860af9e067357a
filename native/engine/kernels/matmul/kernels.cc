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

// Fastest first.
#define KERNELS(KERNEL)                                     \
    KVASIR_IF_AVX512BF16(KERNEL(matmul_avx512bf16, kernel)) \
    KVASIR_IF_AVX512VNNI(KERNEL(matmul_avx512vnni, kernel)) \
    KVASIR_IF_AVX512(KERNEL(matmul_avx512, kernel))         \
    KVASIR_IF_AVXVNNI(KERNEL(matmul_avxvnni, kernel))       \
    KVASIR_IF_AVX2(KERNEL(matmul_avx2, int16_kernel) KERNEL(matmul_avx2, kernel))

#define DECLARE(isa, kernel) namespace isa { extern const MatmulKernel kernel; }
KERNELS(DECLARE)

// The same for rows apart.
#define APART_KERNELS(KERNEL)                                     \
    KVASIR_IF_AVX512VNNI(KERNEL(matmul_avx512vnni, apart_kernel)) \
    KVASIR_IF_AVXVNNI(KERNEL(matmul_avxvnni, apart_kernel))       \
    KVASIR_IF_AVX2(KERNEL(matmul_avx2, apart_kernel))
APART_KERNELS(DECLARE)

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

// The kernel for each type, chosen at first use.
class Choices {
  public:
    explicit Choices(const MatmulKernel * (*choose)(ggml_type)) : choose_(choose) {}
    const MatmulKernel * of(ggml_type type) {
        const std::lock_guard lock(mutex_);
        auto & kernel = chosen_[size_t(type)];
        if (!kernel) kernel = choose_(type);
        return *kernel;
    }

  private:
    const MatmulKernel * (*choose_)(ggml_type);
    std::mutex mutex_;
    std::array<std::optional<const MatmulKernel *>, GGML_TYPE_COUNT> chosen_;
};

const MatmulKernel * choose(ggml_type type) {
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
        // A faulty kernel would give wrong answers silently, so a kernel that exceeds its tolerance here is not used.
        if (matmul_error(*k, type) < k->tolerance) return k;
    }
    return nullptr;
}

}  // namespace

const MatmulKernel * matmul_kernel(ggml_type type) {
    static Choices choices(choose);
    return choices.of(type);
}

#ifdef KVASIR_HAVE_AVX2
namespace {

// [count][outputs]: each row multiplied alone by ggml.
std::vector<float> products_of_ggml(const SmallProblem & p) {
    Device cpu(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU), 1);
    ggml_context * c = cpu.graph_context();
    ggml_tensor * w = ggml_new_tensor_2d(c, p.type, p.width, p.outputs);
    ggml_tensor * rows = ggml_new_tensor_3d(c, GGML_TYPE_F32, p.width, 1, p.count);
    for (ggml_tensor * t : {w, rows}) ggml_set_input(t);
    ggml_tensor * y = ggml_mul_mat(c, w, rows);
    ggml_set_output(y);
    ggml_cgraph * graph = ggml_new_graph(c);
    ggml_build_forward_expand(graph, y);
    cpu.prepare(graph);
    ggml_backend_tensor_set(w, p.weights.data(), 0, p.weights.size());
    ggml_backend_tensor_set(rows, p.x.data(), 0, p.x.size() * sizeof(float));
    cpu.run(graph, nullptr);
    std::vector<float> out(size_t(p.outputs) * size_t(p.count));
    ggml_backend_tensor_get(y, out.data(), 0, out.size() * sizeof(float));
    return out;
}

bool has_ggml_s_bits(const MatmulKernel & kernel, ggml_type type) {
    const SmallProblem p(type, 1120, 48, 11);  // none a multiple of the kernel's block sizes
    const std::vector<float> rows = packed_rows(kernel, p.x, p.width);
    std::vector<float> out(size_t(p.outputs) * size_t(p.count));
    std::vector<uint8_t> scratch(kernel.scratch_bytes + 64);
    kernel.run({p.type, p.weights.data(), rows.data(), out.data(), p.width, p.outputs, p.count}, 0, 1,
               align_64(scratch.data()));
    return out == products_of_ggml(p);
}

}  // namespace

std::vector<const MatmulKernel *> matmul_kernels_apart(ggml_type type) {
    constexpr std::array kTypes{GGML_TYPE_Q4_0, GGML_TYPE_Q4_1, GGML_TYPE_Q5_0, GGML_TYPE_Q5_1, GGML_TYPE_Q8_0};
    if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) return {};
    std::vector<const MatmulKernel *> all{APART_KERNELS(ADDRESS)};
    std::erase_if(all, [&](const MatmulKernel * k) { return !k->usable() || !has_ggml_s_bits(*k, type); });
    return all;
}
#else
std::vector<const MatmulKernel *> matmul_kernels_apart(ggml_type) { return {}; }
#endif

const MatmulKernel * matmul_kernel_apart(ggml_type type) {
    static Choices choices([](ggml_type t) -> const MatmulKernel * {
        const char * wanted = std::getenv("KVASIR_MATMUL");
        if (wanted && std::strcmp(wanted, "ggml") == 0) return nullptr;
        const auto all = matmul_kernels_apart(t);
        return all.empty() ? nullptr : all.front();
    });
    return choices.of(type);
}

const MatmulKernel * matmul_kernel_repacked(ggml_type type, ggml_backend_buffer_type_t memory) {
    if ((type != GGML_TYPE_Q4_K && type != GGML_TYPE_Q4_0) ||
        std::strcmp(ggml_backend_buft_name(memory), "CPU_REPACK") != 0) {
        return nullptr;
    }
    const auto find = [&](ggml_type t) -> const MatmulKernel * {
        const MatmulKernel * kernel = matmul_kernel(t);
        if (!kernel || !kernel->rounds()) return nullptr;  // in f32, ggml is as fast
        return matmul_error(*kernel, t, memory) < kernel->tolerance ? kernel : nullptr;
    };
    static const MatmulKernel *const q4_K = find(GGML_TYPE_Q4_K), *const q4_0 = find(GGML_TYPE_Q4_0);
    return type == GGML_TYPE_Q4_K ? q4_K : q4_0;
}

}  // namespace kvasir
