// Measures the speed of the matrix product kernels on this machine, one thread, side by side. A table on stdout.
//
//   kvasir-matmul [--rows 32,614,4096] [--types q8_0,q4_K,q6_K] [--kernels avx2-int16,avx2] [--seconds S]
//
// The matrix is 1,024 × 3,072, as in the feed-forward block of a 0.6B model. Figures are billions of operations (a
// multiplication or an addition) per second of CPU time, the best of as many runs as fit into S seconds. Rows are
// packed once, as in a layer where several products share them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "engine/aligned.h"
#include "engine/kernels/matmul/kernel.h"
#include "tools/timing.h"

using namespace kvasir;

namespace {

constexpr int kWidth = 1024, kOutputs = 3072;

std::vector<std::string> split(const std::string & list) {
    std::vector<std::string> parts;
    std::istringstream in(list);
    for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
    return parts;
}

bool named(const std::string & list, const char * name) {
    const std::vector<std::string> names = split(list);
    return list.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

// Billions of operations per second.
double speed(const MatmulKernel & kernel, ggml_type type, int count, double seconds) {
    uint32_t state = 1;
    const auto next = [&] { return float((state = state * 1664525 + 1013904223) >> 8) / float(1 << 23) - 1; };
    std::vector<float> w(size_t(kWidth) * kOutputs), x(size_t(kWidth) * size_t(count)),
        out(size_t(kOutputs) * size_t(count));
    for (float & value : w) value = next();
    for (float & value : x) value = next();
    std::vector<uint8_t> weights(ggml_row_size(type, kWidth) * kOutputs), scratch(kernel.scratch_bytes + 64);
    ggml_quantize_chunk(type, w.data(), weights.data(), 0, kOutputs, kWidth, nullptr);
    const std::vector<float> rows = packed_rows(kernel, x, kWidth);
    const MatmulJob job{type, weights.data(), rows.data(), out.data(), kWidth, kOutputs, count};
    return 2e-9 * kWidth * kOutputs * count /
           best_time(1, seconds, [&] { kernel.run(job, 0, 1, align_64(scratch.data())); });
}

}  // namespace

int main(int argc, char ** argv) {
    std::string rows = "32,614,4096", types = "q8_0,q4_K,q6_K", kernels;
    double seconds = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string name = argv[i], value = argv[i + 1];
        if (name == "--rows") rows = value;
        if (name == "--types") types = value;
        if (name == "--kernels") kernels = value;
        if (name == "--seconds") seconds = std::stod(value);
    }
    for (const ggml_type type : matmul_types()) {
        if (!named(types, ggml_type_name(type))) continue;
        for (const std::string & count : split(rows)) {
            std::printf("%s, %s rows:", ggml_type_name(type), count.c_str());
            for (const MatmulKernel * kernel : matmul_kernels())
                if (named(kernels, kernel->name)) {
                    std::printf("  %s %.0f", kernel->name, speed(*kernel, type, std::stoi(count), seconds));
                }
            std::printf("\n");
        }
    }
}
