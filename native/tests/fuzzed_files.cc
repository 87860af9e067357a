// The files of tests/data/fuzz as fuzzing runs them: seeds, and what once broke a rule (docs/formats of each; see
// fuzz/targets.h).
#include <filesystem>

#include "fuzz/targets.h"
#include "tests/harness.h"

using namespace kvasir;

namespace {

void run_all(const fuzz::Target & target, const std::string & name) {
    size_t files = 0;
    for (const auto & entry : std::filesystem::directory_iterator("native/tests/data/fuzz/" + name)) {
        try {
            target.run(entry.path().string());
        } catch (const std::logic_error & e) {
            test::fail(entry.path().string().c_str(), 0, e.what());
        }
        ++files;
    }
    CHECK(files > 0);
}

}  // namespace

TEST(fuzzed_models_give_a_documented_error_or_a_model) { run_all(fuzz::gguf, "gguf"); }
TEST(fuzzed_chunk_files_give_a_documented_error_or_a_chunk) { run_all(fuzz::chunk, "chunk"); }
