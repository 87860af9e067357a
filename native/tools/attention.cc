// Measures the speed of the attention kernels on this machine relative to its peak. JSON on stdout.
//
//   kvasir-attention [--threads N] [--rows 1,32,256,2048] [--keys 1024,4096,16384] [--kernels avx512,avx2,ggml]
//                    [--kv f16,q8_0] [--seconds S]
//
// The shape is that of a 0.6B model: 16 heads of 128 in groups of 2. Rows are the last ones of the keys. Each figure is
// the best of as many runs as fit into S seconds; an operation is a multiplication or an addition that the result needs
// (masked scores are not counted).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "engine/aligned.h"
#include "engine/devices/device.h"
#include "engine/kernels/attention/kernel.h"
#include "engine/kernels/convert.h"
#include "engine/scheduling/cores.h"
#include "tools/timing.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif
#ifdef __linux__
#include <sys/resource.h>
#endif

using namespace kvasir;

namespace {

constexpr int kHeads = 16, kGroup = 2, kDim = 128;

struct Peak {
    const char * name;
    bool usable;
    double operations;  // per call
    void (*run)();
};

#if defined(__x86_64__) && defined(__GNUC__)
constexpr int kRounds = 1'000'000, kChains = 12;

// Independent chains of multiply-and-add in registers, enough to hide the latency.
#define PEAK(NAME, TARGET, TYPE, CONSTRAINT, EXPRESSION)                              \
    __attribute__((target(TARGET))) void NAME() {                                     \
        TYPE sum[kChains] = {}, a = {}, b = {};                                       \
        asm volatile("" : "+" CONSTRAINT(a), "+" CONSTRAINT(b));                      \
        for (int i = 0; i < kRounds; ++i) {                                           \
            _Pragma("GCC unroll 12") for (int j = 0; j < kChains; ++j) {              \
                sum[j] = EXPRESSION;                                                  \
                asm volatile("" : "+" CONSTRAINT(sum[j]));                            \
            }                                                                         \
        }                                                                             \
    }
PEAK(f32_256, "avx2,fma", __m256, "x", _mm256_fmadd_ps(a, b, sum[j]))
PEAK(f32_512, "avx512f", __m512, "v", _mm512_fmadd_ps(a, b, sum[j]))
PEAK(bf16_512, "avx512f,avx512bf16", __m512, "v", _mm512_dpbf16_ps(sum[j], (__m512bh) a, (__m512bh) b))

std::vector<Peak> peaks() {
    const double n = 2.0 * kRounds * kChains;
    std::vector<Peak> all{
        {"f32 256", bool(__builtin_cpu_supports("avx2")) && __builtin_cpu_supports("fma"), n * 8, f32_256},
        {"f32 512", bool(__builtin_cpu_supports("avx512f")), n * 16, f32_512},
        {"bf16 512", bool(__builtin_cpu_supports("avx512bf16")), n * 32, bf16_512}};
    std::erase_if(all, [](const Peak & p) { return !p.usable; });
    return all;
}
#else
std::vector<Peak> peaks() { return {}; }
#endif

struct Cache {
    std::vector<float> q, out;
    std::vector<uint8_t> k, v;
    KvDtype type;

    Cache(int rows, int keys, KvDtype t) : q(size_t(rows) * kHeads * kDim), out(q.size()), type(t) {
        uint32_t state = 1;
        const auto next = [&] { return float((state = state * 1664525 + 1013904223) >> 8) / float(1 << 23) - 1; };
        std::vector<float> row(size_t(keys) * kHeads / kGroup * kDim);
        for (float & x : q) x = 2 * next();
        for (auto * to : {&k, &v}) {
            for (float & x : row) x = next();
            to->resize(ggml_row_size(dtype_ggml(type), int64_t(row.size())));
            kv_from_f32(type, row.data(), to->data(), row.size());
        }
    }
};

// ggml's flash attention with its own threads. Measures the calling thread's time, which works as long as any other.
double ggml_time(const Cache & cache, int rows, int keys, int threads, double seconds) {
    Device cpu(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU), threads);
    ContextPtr ctx = make_context(32), graph = ContextPtr(ggml_init({1 << 20, nullptr, true}));
    ggml_context * c = ctx.get();
    ggml_tensor * q = ggml_new_tensor_3d(c, GGML_TYPE_F32, kDim, kHeads, rows);
    ggml_tensor * k = ggml_new_tensor_3d(c, dtype_ggml(cache.type), kDim, kHeads / kGroup, keys);
    ggml_tensor * v = ggml_new_tensor_3d(c, dtype_ggml(cache.type), kDim, kHeads / kGroup, keys);
    ggml_tensor * mask = ggml_new_tensor_2d(c, GGML_TYPE_F16, keys, rows);
    BufferPtr buffer = allocate_tensors(c, cpu.memory().type());
    std::vector<uint16_t> visible(size_t(keys) * size_t(rows), 0xFC00);
    for (int r = 0; r < rows; ++r) {
        std::fill_n(visible.begin() + std::ptrdiff_t(size_t(r) * size_t(keys)), keys - rows + r + 1, uint16_t(0));
    }
    ggml_backend_tensor_set(q, cache.q.data(), 0, ggml_nbytes(q));
    ggml_backend_tensor_set(k, cache.k.data(), 0, ggml_nbytes(k));
    ggml_backend_tensor_set(v, cache.v.data(), 0, ggml_nbytes(v));
    ggml_backend_tensor_set(mask, visible.data(), 0, ggml_nbytes(mask));
    const auto heads = [&](ggml_tensor * t) { return ggml_permute(graph.get(), t, 0, 2, 1, 3); };
    ggml_tensor * y =
        ggml_flash_attn_ext(graph.get(), heads(q), heads(k), heads(v), mask, 1 / std::sqrt(float(kDim)), 0, 0);
    ggml_set_output(y);
    ggml_cgraph * work = ggml_new_graph_custom(graph.get(), 16, false);
    ggml_build_forward_expand(work, y);
    cpu.prepare(work);
    return best_time(1, seconds, [&] { cpu.run(work, nullptr); });
}

// Time of one attention of the last `rows` rows, with one of our kernels or (null) with ggml.
double attention_time(const AttentionKernel * kernel, Cache & cache, int rows, int keys, int threads, double seconds) {
    if (!kernel) return ggml_time(cache, rows, keys, threads, seconds);
    std::vector<int32_t> positions;
    for (int r = 0; r < rows; ++r) positions.push_back(keys - rows + r);
    AttentionJob job{};
    job.q = cache.q.data(), job.k = cache.k.data(), job.v = cache.v.data(), job.type = cache.type;
    job.out = cache.out.data(), job.positions = positions.data();
    job.rows = rows, job.n_head = kHeads, job.n_head_kv = kHeads / kGroup, job.head_dim = kDim,
    job.q_stride = size_t(kHeads) * kDim;
    job.scale = 1 / std::sqrt(float(kDim));
    std::vector<float> memory(kernel->shared_floats(job, keys));
    AttentionTeam team;
    team.memory = memory.data();
    return best_time(threads, seconds, [&] {
        thread_local std::vector<float> scratch;
        scratch.resize(kernel->scratch_floats(job) + 16);
        kernel->run(job, team, threads, align_64(scratch.data()));
    });
}

std::vector<int> numbers(const std::string & list) {
    std::vector<int> out;
    std::stringstream in(list);
    for (std::string item; std::getline(in, item, ',');) out.push_back(std::atoi(item.c_str()));
    return out;
}

// A kernel by name; null for ggml's attention.
struct Named {
    std::string name;
    const AttentionKernel * kernel;
};

std::vector<Named> kernels(const std::string & only) {
    std::vector<Named> all;
    for (const AttentionKernel * k : attention_kernels()) all.push_back({k->name, k});
    all.push_back({"ggml", nullptr});
    std::erase_if(all, [&](const Named & k) {
        return only.empty() ? k.name == "amx-emulated"
                            : ("," + only + ",").find("," + k.name + ",") == std::string::npos;
    });
    return all;
}

void print_time(const Named & k, KvDtype type, int rows, int keys, int threads, double seconds, const char * comma) {
    Cache cache(rows, keys, type);
    const double time = attention_time(k.kernel, cache, rows, keys, threads, seconds);
    const double visible = double(rows) * (keys - rows) + double(rows) * (rows + 1) / 2;
    std::printf("%s\n{\"kernel\":\"%s\",\"kv\":\"%s\",\"rows\":%d,\"keys\":%d,", comma, k.name.c_str(),
                dtype_name(type), rows, keys);
    std::printf("\"ms\":%.4f,\"gflops\":%.1f,\"gbPerSecond\":%.1f}", time * 1e3,
                4 * visible * kHeads * kDim / time / 1e9, double(2 * cache.k.size()) / time / 1e9);
    std::fflush(stdout);
}

double peak_rss_mib() {
#ifdef __linux__
    rusage use{};
    getrusage(RUSAGE_SELF, &use);
    return double(use.ru_maxrss) / 1024;
#else
    return 0;
#endif
}

}  // namespace

int main(int argc, char ** argv) {
    std::string rows = "1,32,256,2048", keys = "1024,4096,16384", only, kv = "f16,q8_0";
    int threads = usable_threads(0);
    double seconds = 0.5;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string flag = argv[i], value = argv[i + 1];
        if (flag == "--threads") threads = std::atoi(value.c_str());
        else if (flag == "--rows") rows = value;
        else if (flag == "--keys") keys = value;
        else if (flag == "--kernels") only = value;
        else if (flag == "--kv") kv = value;
        else if (flag == "--seconds") seconds = std::atof(value.c_str());
        else return std::fprintf(stderr, "unknown flag %s\n", flag.c_str()), 2;
    }
    init_backends("build/ggml");
    std::printf("{\"threads\":%d,\"shape\":{\"heads\":%d,\"group\":%d,\"headDim\":%d},\"peaks\":[", threads, kHeads,
                kGroup, kDim);
    const char * comma = "";
    for (const Peak & p : peaks()) {
        const double time = best_time(threads, seconds, p.run);
        std::printf("%s{\"name\":\"%s\",\"gflops\":%.1f}", comma, p.name, p.operations * threads / time / 1e9);
        comma = ",";
    }
    std::printf("],\"kernels\":[");
    comma = "";
    for (const Named & kernel : kernels(only)) {
        for (const KvDtype type : {KvDtype::f16, KvDtype::q8_0}) {
            if (kv.find(dtype_name(type)) == std::string::npos) continue;
            for (const int n : numbers(keys)) {
                for (const int r : numbers(rows)) {
                    // ggml's attention for many rows would take longer than everything else together.
                    if (r > n || (!kernel.kernel && r > 256 && only.empty())) continue;
                    print_time(kernel, type, r, n, threads, seconds, comma);
                    comma = ",";
                }
            }
        }
    }
    std::printf("],\"peakRssMiB\":%.0f}\n", peak_rss_mib());
}
