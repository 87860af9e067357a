#pragma once
// An embedding model (text → one vector) or a reranker (question and text → one score), computed by libllama, which
// supports the encoders that blending does not need.
//
// Thread safety: one thread constructs it and calls embed() or rank(). Any thread may read what the constructor sets,
// and set `abort`.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "engine/devices/backend.h"
#include "engine/gguf/gguf_file.h"
#include "engine/gguf/vocab.h"
#include "engine/scheduling/thread_count.h"
#include "llama.h"

namespace kvasir {

// How an embedding model is loaded. Rules of its family that a file may lack are given by the caller.
struct EmbedderOptions {
    int threads = 0;              // 0: one per physical core; never more than the cores available
    std::string device = "auto";  // "auto", "cpu" or a ggml device name
    std::string pooling = "";     // mean, cls, last: used where the file names none; "": by the architecture
    std::string end = "";         // text of the token that ends every text, if the vocabulary has it; "": the file's
    int tokens = 0;               // longest text, if shorter than the file's; 0: the file's
};

// Pooling that a file names: mean, cls, last, rank; empty if it names none.
std::string pooling_of(const GgufFile & file);
// Whether a file is an embedding model: it names a pooling type, is an encoder without a language head, or its names
// indicate it.
bool is_embedding_model(const GgufFile & file);
// Whether the file is a reranker, which scores passages for a question: it names rank pooling, has a classifier, or its
// names indicate it.
bool is_reranker(const GgufFile & file);

class Embedder {
  public:
    // MODEL_NOT_FOUND, MODEL_INVALID, MODEL_UNSUPPORTED, OUT_OF_MEMORY.
    Embedder(const std::string & path, const EmbedderOptions & options);

    const std::string & name() const { return name_; }
    const std::string & architecture() const { return architecture_; }
    size_t file_size() const { return file_.file_size(); }
    int dimension() const { return dimension_; }
    int context() const { return context_; }  // longest text in tokens
    const char * pooling() const;             // mean, cls, last, rank
    int threads() const { return threads_.most(); }
    double load_ms() const { return load_ms_; }

    // For embedding models: [texts][dimension], each row of length 1, or zeros for a text without tokens. ABORTED
    // (polled within each text), MODEL_CHANGED; BAD_ARGUMENT for a reranker.
    std::vector<float> embed(const std::vector<std::string> & texts, const std::atomic<bool> * abort);
    // For rerankers: how likely each text answers the query, 0 to 1. A text is truncated so that both fit the context,
    // and a query that would take more than half of it. ABORTED (polled within each text), MODEL_CHANGED;
    // BAD_ARGUMENT for an embedding model.
    std::vector<float> rank(const std::string & query, const std::vector<std::string> & texts,
                            const std::atomic<bool> * abort);
    // Tokens of a text, including those that begin and end it even if the file forgets to request them; embed() cuts
    // what is longer than context(). Any thread may call it.
    std::vector<int32_t> tokenize(const std::string & text) const;

  private:
    void load(const std::string & device);
    // How a reranker is asked. MODEL_UNSUPPORTED when that is unknown.
    void prepare_ranking();
    // Reserves memory for texts of up to `tokens` tokens.
    void reserve(int tokens);
    std::vector<int32_t> cut(std::vector<int32_t> tokens) const;
    // Query and text as the reranker was trained to see them.
    std::vector<int32_t> pair(const std::string & query, const std::string & text) const;
    // Reserves memory for all of these, and has computations poll `abort`.
    void begin(const std::vector<std::vector<int32_t>> & texts, const std::atomic<bool> * abort);
    void compute(std::vector<int32_t> & tokens);
    void embed_one(std::vector<int32_t> & tokens, float * out);
    float score_one(std::vector<int32_t> & tokens);

    GgufFile file_;
    std::string name_, architecture_;
    int dimension_ = 0, context_ = 0;
    ThreadCount threads_;
    int32_t begin_ = -1, end_ = -1;  // tokens; -1: the vocabulary adds its default
    bool ranks_;  // a reranker
    // Its prompt with {query} and {document}, if it has one; the tokens whose logits are compared, if it has no
    // classifier; which of the classifier's outputs is the score.
    std::string prompt_;
    int32_t yes_ = -1, no_ = -1;
    uint32_t label_ = 0, labels_ = 1;
    enum llama_pooling_type pooling_ = LLAMA_POOLING_TYPE_UNSPECIFIED;
    double load_ms_ = 0;
    std::unique_ptr<Vocab> vocab_;
    std::unique_ptr<llama_model, Deleter<llama_model_free>> model_;
    std::unique_ptr<llama_context, Deleter<llama_free>> ctx_;
};

}  // namespace kvasir
