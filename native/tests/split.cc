// Models split into several files compute the same as a single file, bit for bit.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/error.h"
#include "llama/llama_model.h"
#include "llama/llama_session.h"
#include "tests/fixtures.h"

using namespace kvasir;
using test::split_model;
using test::split_part;

namespace {

const char * const kTiny = "--layers 2 --embd 64 --head-dim 32 --heads 2 --kv-heads 1 --ff 64 --vocab 600 ";

std::string message_of(const std::string & path) {
    try {
        GgufFile file(path);
        return "";
    } catch (const Error & e) {
        return e.code + ": " + e.what() + " " + e.advice;
    }
}

bool mentions(const std::string & message, const std::string & words) {
    return message.find(words) != std::string::npos;
}

}  // namespace

TEST(split_model_computes_as_the_whole_one) {
    // Weights that are used in place, that are converted, and that are repacked for the processor's kernels.
    for (const char * type : {"f32", "f16", "q8_0", "q4_K"}) {
        const std::string name = std::string("whole-") + type;
        const std::string whole = test::random_model(name, test::tiny_shape("llama") + "--type " + type);
        for (const int parts : {1, 2, 5}) {
            const std::string split = split_model(whole, name + std::to_string(parts), parts);
            const auto a = std::make_shared<Model>(whole, ModelOptions{2, "cpu"}, nullptr);
            const auto b = std::make_shared<Model>(split, ModelOptions{2, "cpu"}, nullptr);
            const auto tokens = test::ids(150);
            const auto chunk_a = test::encode(a, test::ids(40, 2)), chunk_b = test::encode(b, test::ids(40, 2));
            CHECK(test::append(a, {{tokens}}, test::kFull).logits == test::append(b, {{tokens}}, test::kFull).logits);
            const StrategySpec blend{.name = "deviation", .check_layers = {1}, .ratios = {0.2}};
            CHECK(test::append(a, {{{1}}, {{}, chunk_a}, {tokens}}, blend).logits ==
                  test::append(b, {{{1}}, {{}, chunk_b}, {tokens}}, blend).logits);
            // Their KV is not interchangeable: headers differ.
            CHECK(a->fingerprint_hex() != b->fingerprint_hex());
        }
    }
}

TEST(split_model_has_the_size_and_the_tensors_of_all_parts) {
    const std::string whole = test::random_model("sizes", kTiny), first = split_model(whole, "sizes-split", 3);
    const GgufFile one(whole), all(first);
    CHECK_EQ(all.tensors().size(), one.tensors().size());
    size_t bytes = 0;
    for (int part = 1; part <= 3; ++part) bytes += std::filesystem::file_size(split_part("sizes-split", part, 3));
    CHECK_EQ(all.file_size(), bytes);
    CHECK_EQ(all.path(), first);
    CHECK_EQ(all.string("general.architecture").value_or(""), std::string("llama"));
}

TEST(split_model_reports_a_change_of_any_part) {
    const std::string first = split_model(test::random_model("touched", kTiny), "touched-split", 2);
    const GgufFile file(first);
    CHECK(!file.changed());
    std::ofstream(split_part("touched-split", 2, 2), std::ios::app) << "more";
    CHECK(file.changed());
}

TEST(split_model_with_a_missing_part_names_it) {
    const std::string first = split_model(test::random_model("lost", kTiny), "lost-split", 3);
    std::filesystem::remove(split_part("lost-split", 2, 3));
    const std::string message = message_of(first);
    CHECK(mentions(message, "MODEL_PART_MISSING"));
    CHECK(mentions(message, "is split into 3 files, and lost-split-00002-of-00003.gguf is missing"));
}

TEST(split_model_is_opened_by_its_first_part) {
    split_model(test::random_model("order", kTiny), "order-split", 3);
    const std::string message = message_of(split_part("order-split", 3, 3));
    CHECK(mentions(message, "it is part 3 of 3"));
    CHECK(mentions(message, "Choose the first part instead: order-split-00001-of-00003.gguf"));
}

TEST(renamed_split_model_says_why_parts_cannot_be_found) {
    const std::string first = split_model(test::random_model("renamed", kTiny), "renamed-split", 2);
    const std::string other = test::scratch("renamed.part.gguf");
    std::filesystem::copy_file(first, other);
    CHECK(mentions(message_of(other), "its name does not end with -00001-of-00002.gguf"));
}

TEST(split_model_with_a_part_of_another_is_refused) {
    const std::string first = split_model(test::random_model("mixed", kTiny), "mixed-split", 2);
    const std::string second = split_part("mixed-split", 2, 2);
    std::filesystem::remove(second);
    std::filesystem::copy_file(first, second);
    CHECK(mentions(message_of(first), "it is not part 2 of 2"));
    // A part of a model with more tensors.
    split_model(test::random_model("larger", std::string(kTiny) + "--untied"), "larger-split", 2);
    std::filesystem::remove(second);
    std::filesystem::copy_file(split_part("larger-split", 2, 2), second);
    CHECK(mentions(message_of(first), "MODEL_INVALID"));
}

TEST(split_model_runs_by_libllama_too) {
    const std::string whole = test::random_model("llama-whole", test::tiny_shape("llama") + "--type f32");
    const auto logits = [](const std::string & path) {
        const auto model = std::make_shared<LlamaModel>(path, ModelOptions{2, "cpu"}, nullptr);
        LlamaSession session(model, 512);
        session.append({{test::ids(60)}}, test::kFull, nullptr, nullptr);
        return session.logits();
    };
    CHECK(logits(whole) == logits(split_model(whole, "llama-split", 2)));
}
