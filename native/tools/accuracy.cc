// Measures the error of the attention kernels, and of ggml's, against the definition in double precision. JSON on
// stdout.
//
//   kvasir-accuracy [--problems 60]
//
// Uses the tests' seeded problems (tests/attention_problem.h): any head size, any length, rows at any positions. Errors
// are absolute; results are up to 3.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/attention_problem.h"

using namespace kvasir;

namespace {

struct Row {
    std::string name;
    test::Errors errors;
};

// Problems that ggml supports too: head sizes a multiple of 32 in q8_0, of 8 in f16.
std::vector<Row> errors_of(KvDtype type, bool one_row, int problems) {
    std::vector<Row> all;
    for (const AttentionKernel * k : attention_kernels()) all.push_back({k->name, {}});
    all.push_back({"ggml", {}});
    std::minstd_rand rng(41);
    for (int i = 0; i < problems; ++i) {
        test::Shape shape = test::random_shape(rng, type, one_row ? 1 : 70, 2000);
        if (!one_row) shape.rows += 1;
        if (type == KvDtype::f16) shape.head_dim = std::max(32, shape.head_dim / 8 * 8);
        test::Problem p(shape, uint32_t(i + 1));
        const std::vector<double> right = p.expected();
        const auto add = [&](Row & row, const std::vector<float> & results) {
            for (size_t at = 0; at < right.size(); ++at) row.errors.add(std::fabs(results[at] - right[at]));
        };
        for (size_t k = 0; k + 1 < all.size(); ++k) {
            p.run(*attention_kernels()[k], 1);
            add(all[k], p.out);
        }
        add(all.back(), p.by_ggml());
    }
    return all;
}

}  // namespace

int main(int argc, char ** argv) {
    const int problems = argc == 3 && std::string(argv[1]) == "--problems" ? std::atoi(argv[2]) : 60;
    init_backends("build/ggml");
    std::printf("[");
    const char * comma = "";
    for (const KvDtype type : {KvDtype::f16, KvDtype::q8_0}) {
        for (const bool one_row : {false, true}) {
            for (const Row & row : errors_of(type, one_row, problems)) {
                std::printf("%s\n{\"kernel\":\"%s\",\"kv\":\"%s\",\"rows\":\"%s\",\"largest\":%.2e,\"mean\":%.2e}",
                            comma, row.name.c_str(), dtype_name(type), one_row ? "one" : "several", row.errors.largest,
                            row.errors.mean());
                comma = ",";
            }
        }
    }
    std::printf("]\n");
}
