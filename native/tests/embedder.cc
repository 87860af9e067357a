// Embedding models: what their vectors promise, and which files are refused.
#include "engine/embedder.h"

#include <atomic>
#include <cmath>

#include "engine/error.h"
#include "engine/gguf_file.h"
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

TEST(a_text_has_one_vector_whatever_stands_beside_it) {
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

TEST(a_text_longer_than_the_context_is_cut_there) {
    Embedder e(bert("bert"), {1, "cpu"});
    CHECK_EQ(e.context(), 64);
    // One token a character between the two that the tokeniser adds; the cut keeps the closing one.
    CHECK(embed(e, {std::string(5000, 'x')}) == embed(e, {std::string(62, 'x')}));
    CHECK(embed(e, {std::string(62, 'x')}) != embed(e, {std::string(61, 'x')}));
}

TEST(pooling_is_what_the_file_says_and_mean_when_it_says_none) {
    CHECK_EQ(std::string(Embedder(bert("bert-cls", "--pooling 2"), {1, "cpu"}).pooling()), std::string("cls"));
    Embedder none(llama("pool-none", ""), {1, "cpu"}), last(llama("pool-last", "--pooling 3"), {1, "cpu"});
    CHECK_EQ(std::string(none.pooling()), std::string("mean"));
    CHECK_EQ(std::string(last.pooling()), std::string("last"));
    CHECK(embed(none, {"two words"}) != embed(last, {"two words"}));
    CHECK(embed(none, {""}) == embed(last, {""}));  // one token (BOS): nothing to choose
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
}
