// Embedding models: properties of their vectors, and refused files.
#include "llama/embedder.h"

#include <atomic>
#include <cmath>
#include <functional>

#include "engine/error.h"
#include "engine/gguf/gguf_file.h"
#include "gguf.h"
#include "llama/engine_choice.h"
#include "tests/edited_model.h"
#include "tests/harness.h"

using namespace kvasir;
using test::error_code;

namespace {

std::string bert(const std::string & name, const std::string & more = "--pooling 1") {
    return test::random_model(
        name,
        "--arch bert --layers 2 --embd 64 --heads 4 --kv-heads 4 --head-dim 16 --ff 128 --vocab 256 --context 64 " +
            more);
}
std::string llama(const std::string & name, const std::string & more) {
    return test::random_model(name, "--layers 2 --vocab 300 --context 256 " + more);
}

std::vector<float> embed(Embedder & e, const std::vector<std::string> & texts) { return e.embed(texts, nullptr); }

double length(const std::vector<float> & v) {
    double sum = 0;
    for (float x : v) sum += double(x) * x;
    return std::sqrt(sum);
}

}  // namespace

TEST(a_text_has_the_same_vector_whatever_other_texts_are_embedded) {
    for (const std::string & path : {bert("bert"), llama("pool-last", "--pooling 3")}) {
        Embedder e(path, {1, "cpu"});
        const auto alone = embed(e, {"the second text"});
        CHECK_EQ(alone.size(), size_t(e.dimension()));
        CHECK(std::fabs(length(alone) - 1) < 1e-5);
        const auto three = embed(e, {"a first one, longer than the next", "the second text", "a third"});
        CHECK_EQ(three.size(), size_t(3 * e.dimension()));
        CHECK(std::equal(alone.begin(), alone.end(), three.begin() + e.dimension()));
        CHECK(embed(e, {"another text"}) != alone);
        CHECK(embed(e, {}).empty());
    }
}

TEST(a_text_longer_than_the_context_is_truncated) {
    Embedder e(bert("bert"), {1, "cpu"});
    CHECK_EQ(e.context(), 64);
    // One token per character between the two that the tokeniser adds; truncation keeps the closing one.
    CHECK(embed(e, {std::string(5000, 'x')}) == embed(e, {std::string(62, 'x')}));
    CHECK(embed(e, {std::string(62, 'x')}) != embed(e, {std::string(61, 'x')}));
}

TEST(pooling_follows_the_file_or_else_the_architecture) {
    CHECK_EQ(std::string(Embedder(bert("bert-cls", "--pooling 2"), {1, "cpu"}).pooling()), std::string("cls"));
    Embedder none(llama("pool-none", ""), {1, "cpu"}), last(llama("pool-last", "--pooling 3"), {1, "cpu"});
    CHECK_EQ(std::string(Embedder(bert("bert-unsaid", ""), {1, "cpu"}).pooling()), std::string("mean"));
    CHECK_EQ(std::string(none.pooling()), std::string("last"));
    CHECK_EQ(std::string(last.pooling()), std::string("last"));
    CHECK(embed(none, {"two words"}) == embed(last, {"two words"}));
    Embedder mean(llama("pool-mean", "--pooling 1"), {1, "cpu"});
    CHECK(embed(mean, {"two words"}) != embed(last, {"two words"}));
}

// The file with its header changed.
std::string edited(const std::string & path, const std::string & name,
                   const std::function<void(gguf_context *)> & edit) {
    return test::edited_model(path, name, [&](gguf_context * header, ggml_context *) { edit(header); });
}

TEST(a_text_ends_as_the_family_was_trained_even_if_the_file_forgets_it) {
    const auto without = [](gguf_context * h) {
        gguf_set_val_bool(h, "tokenizer.ggml.add_bos_token", false);
        gguf_set_val_bool(h, "tokenizer.ggml.add_eos_token", false);
        gguf_set_val_bool(h, "tokenizer.ggml.add_sep_token", false);
    };
    Embedder whole(bert("bert"), {1, "cpu"}), bare(edited(bert("bert"), "bert-bare", without), {1, "cpu"});
    CHECK_EQ(whole.count_tokens("ab"), bare.count_tokens("ab"));
    CHECK(embed(whole, {"two words"}) == embed(bare, {"two words"}));
    // A decoder pools the end token; the same vocabulary without pooling adds none.
    Embedder last(llama("pool-last", "--pooling 3"), {1, "cpu"}), mean(llama("pool-mean", "--pooling 1"), {1, "cpu"});
    CHECK_EQ(last.count_tokens("ab"), mean.count_tokens("ab") + 1);
}

TEST(a_text_may_be_as_long_as_the_model_supports) {
    const auto longer = [](gguf_context * h) { gguf_set_val_u32(h, "llama.context_length", 100'000); };
    Embedder e(edited(llama("pool-last", "--pooling 3"), "pool-long", longer), {1, "cpu"});
    CHECK_EQ(e.context(), 32'768);
    const std::string start(3000, 'x');
    const auto before = embed(e, {"short"});
    const auto both = embed(e, {start + "a", start + "b"});
    CHECK(!std::equal(both.begin(), both.begin() + e.dimension(), both.begin() + e.dimension()));
    const auto after = embed(e, {"short"});
    double distance = 0;
    for (size_t i = 0; i < after.size(); ++i) distance += std::fabs(after[i] - before[i]);
    CHECK(distance < 1e-3);
}

TEST(embedding_stops_when_asked) {
    Embedder e(bert("bert"), {1, "cpu"});
    std::atomic<bool> stop{true};
    CHECK_EQ(error_code([&] { e.embed({"a", "b"}, &stop); }), std::string("ABORTED"));
    stop = false;
    CHECK(e.embed({"a"}, &stop) == embed(e, {"a"}));
}

TEST(files_that_cannot_embed_are_refused) {
    const auto load = [](const std::string & path) { return error_code([&] { Embedder(path, {1, "cpu"}); }); };
    CHECK_EQ(load(bert("bert-rank", "--pooling 4")), std::string("MODEL_UNSUPPORTED"));
    CHECK_EQ(load(test::random_model("unknown", "--arch zebra --layers 1")), std::string("MODEL_UNSUPPORTED"));
    CHECK_EQ(load(test::random_model("weights-missing", "--arch nomic-bert --layers 1 --pooling 1")),
             std::string("MODEL_INVALID"));
    CHECK_EQ(load("build/ggml/include/llama.h"), std::string("MODEL_INVALID"));
    CHECK_EQ(load("no/such/file.gguf"), std::string("MODEL_NOT_FOUND"));
    CHECK_EQ(error_code([&] { Embedder(bert("bert"), {1, "warp drive"}); }), std::string("BAD_ARGUMENT"));
}

TEST(a_header_says_whether_a_file_is_for_embedding) {
    CHECK(is_embedding_model(GgufFile(bert("bert"))));
    CHECK(is_embedding_model(GgufFile(bert("bert-unsaid", ""))));
    CHECK(is_embedding_model(GgufFile(llama("pool-last", "--pooling 3"))));
    CHECK(!is_embedding_model(GgufFile(llama("pool-none", ""))));
    CHECK(!is_embedding_model(GgufFile(bert("bert-rank", "--pooling 4"))));
    CHECK(is_reranker(GgufFile(bert("bert-rank", "--pooling 4"))));
    CHECK(!is_reranker(GgufFile(bert("bert"))));
    // Conversions that have no other indication than their name.
    const auto named = [](const std::string & name) {
        return GgufFile(edited(llama("pool-none", ""), "named", [&](gguf_context * h) {
            gguf_set_val_str(h, "general.name", name.c_str());
        }));
    };
    for (const char * name : {"Qwen3 Embedding 0.6B", "e5-mistral-7b-instruct", "gte_Qwen2-7B", "NV-Embed-v2"})
        CHECK(is_embedding_model(named(name)));
    for (const char * name : {"Qwen3-Reranker-4B", "zerank-2"}) {
        CHECK(is_reranker(named(name)));
        CHECK(!is_embedding_model(named(name)));
    }
    for (const char * name : {"Qwen3-0.6B", "Embedded C Helper 7B", "Mistral-7B-Instruct-v0.3"})
        CHECK(!is_embedding_model(named(name)) && !is_reranker(named(name)));
    CHECK_EQ(int(choose_engine(named("Qwen3-Embedding-0.6B")).kind), int(EngineKind::none));
    const auto tagged = [](gguf_context * h) {
        const char * tags[] = {"sentence-transformers"};
        gguf_set_arr_str(h, "general.tags", tags, 1);
    };
    CHECK(is_embedding_model(GgufFile(edited(llama("pool-none", ""), "tagged", tagged))));
}
