// A model's file that another program truncates while a pass reads it: an error rather than a crash.
#ifndef _WIN32
#include <filesystem>

#include "engine/gguf/mapped_file.h"
#include "engine/model.h"
#include "engine/session.h"
#include "llama/llama_model.h"
#include "llama/llama_session.h"
#include "tests/fixtures.h"
#include "tests/harness.h"

using namespace kvasir;
using test::error_code;

namespace {
std::string copy_of_model(const std::string & name) {
    const std::string copy = test::scratch(name + ".gguf");
    const std::string model = test::random_model("to-be-cut", "--layers 2 --vocab 600 --context 512 --type f16");
    std::filesystem::copy_file(model, copy);
    return copy;
}
void cut(const std::string & path) { std::filesystem::resize_file(path, 4096); }

// Truncates the file after three tokens were reported; the pass of the third reads it.
void check_that_a_cut_ends_its_answer(AnySession & session, const std::string & path) {
    session.append({{test::ids(20), nullptr}}, test::kFull, nullptr, nullptr);
    int told = 0;
    const auto on_token = [&](const Sampled &) {
        if (++told == 3) cut(path);
        return true;
    };
    const Sampling sampling{.drafting = Drafting::off};
    CHECK_EQ(error_code([&] { session.generate(20, sampling, nullptr, on_token); }), std::string("MODEL_CHANGED"));
    CHECK_EQ(told, 3);
}
}  // namespace

TEST(a_truncated_mapping_reads_as_zeros_and_reports_a_change) {
    const std::string path = copy_of_model("cut-mapped");
    MappedFile file(path);
    CHECK(!file.changed());
    CHECK(file.size() > 100'000);
    cut(path);
    CHECK_EQ(file.data()[file.size() - 1], 0);
    CHECK_EQ(file.data()[file.size() / 2], 0);
    CHECK(file.changed());
    CHECK_EQ(file.data()[0], uint8_t('G'));
}

TEST(a_model_truncated_during_an_answer_ends_it_with_an_error) {
    const std::string path = copy_of_model("cut-answer");
    const auto model = std::make_shared<Model>(path, ModelOptions{2, "cpu"}, nullptr);
    Session session(model, 256);
    check_that_a_cut_ends_its_answer(session, path);
}

TEST(a_model_truncated_while_encoding_gives_no_chunk) {
    const std::string path = copy_of_model("cut-chunk");
    const auto model = std::make_shared<Model>(path, ModelOptions{2, "cpu"}, nullptr);
    const auto cut_once = [&](const Progress & progress) {
        if (progress.done < progress.total) cut(path);
    };
    CHECK_EQ(error_code([&] {
                 encode_chunks(model, {test::ids(20)}, {}, KvDtype::f16, nullptr, cut_once);
             }),
             std::string("MODEL_CHANGED"));
}

TEST(truncating_a_model_that_libllama_runs_is_an_error_too) {
    const std::string path = copy_of_model("cut-libllama");
    const auto model = std::make_shared<LlamaModel>(path, ModelOptions{2, "cpu"}, nullptr);
    LlamaSession session(model, 256);
    check_that_a_cut_ends_its_answer(session, path);
}
#endif
