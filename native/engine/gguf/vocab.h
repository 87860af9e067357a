#pragma once
// Tokeniser and sampler, both from libllama.
//
// Thread safety: a Vocab is immutable once loaded; any thread may use it. A Sampler belongs to one thread.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gguf_file.h"
#include "llama.h"

namespace kvasir {

class Vocab {
  public:
    // Loads only the vocabulary; MODEL_INVALID if libllama rejects it; checks as require_usable().
    explicit Vocab(const GgufFile & file);
    // Wraps the vocabulary of a model loaded by libllama, which must outlive this object. Errors as require_usable().
    Vocab(const llama_vocab * vocab, const std::string & path) : vocab_(vocab) {
        require_usable(path);
        find_marks();
    }

    // `parse_special`: marks like <|im_start|> become their token; only for text of a chat template.
    std::vector<int32_t> tokenize(const std::string & text, bool add_special, bool parse_special) const;
    // Tokenises text that follows other text: without the space that SentencePiece vocabularies prepend to a text.
    std::vector<int32_t> tokenize_behind(const std::string & text, bool parse_special) const;
    std::string detokenize(const std::vector<int32_t> & tokens, bool special) const;
    int size() const { return llama_vocab_n_tokens(vocab_); }
    int32_t bos() const { return llama_vocab_bos(vocab_); }
    int32_t eos() const { return llama_vocab_eos(vocab_); }
    int32_t sep() const { return llama_vocab_sep(vocab_); }
    bool add_bos() const { return llama_vocab_get_add_bos(vocab_); }
    // Whether tokenize() appends a special token (EOS, SEP) to a text when asked for special tokens.
    bool adds_end() const { return llama_vocab_get_add_eos(vocab_) || llama_vocab_get_add_sep(vocab_); }
    // libllama aborts the process, or throws in the middle of a text, if the vocabulary is missing or lacks byte
    // tokens. MODEL_UNSUPPORTED, MODEL_INVALID; `path` is for the message.
    void require_usable(const std::string & path) const;
    bool is_none() const { return llama_vocab_type(vocab_) == LLAMA_VOCAB_TYPE_NONE; }
    bool ends_generation(int32_t token) const { return llama_vocab_is_eog(vocab_, token); }
    std::string text(int32_t token) const;
    const llama_vocab * get() const { return vocab_; }

  private:
    void find_marks();
    void append(std::vector<int32_t> & out, const std::string & text, bool add_special, bool parse_special) const;

    std::unique_ptr<llama_model, Deleter<llama_model_free>> model_;
    const llama_vocab * vocab_;
    // Tokens like <start_of_turn> that the file does not list as control tokens, as some files of Gemma 3: libllama
    // splits them into pieces. Longest first.
    std::vector<std::pair<std::string, int32_t>> marks_;
};

// libllama aborts the process if a vocabulary lists a token twice. MODEL_INVALID.
void check_vocabulary(const GgufFile & file);

// Whether likely next tokens are computed ahead (engine/drafting/drafts.h): where that is faster as measured, or always
// (for tests). The text is the same either way.
enum class Drafting { off, measured, always };

struct Sampling {
    float temperature = 0;  // 0 = greedy
    int top_k = 40;
    float top_p = 0.95f;
    float min_p = 0.05f;
    float repeat_penalty = 1.0f;
    uint32_t seed = 0;
    int chances = -1;     // number of most likely tokens reported with each token; -1: none, nor its own probability
    std::string grammar;  // in GBNF, starting at rule `root`: constrains the output; empty: unconstrained
    Drafting drafting = Drafting::measured;
};

// A token and its log-probability under the model: natural logarithms over all tokens, before any filter.
struct Sampled {
    struct Chance {
        int32_t token;
        float logprob;
    };
    int32_t token = 0;
    float logprob = 0;
    std::vector<Chance> top;  // most likely first
};

using OnToken = std::function<bool(const Sampled &)>;

class Sampler {
  public:
    // BAD_ARGUMENT for an invalid grammar.
    Sampler(const Sampling & s, const Vocab & vocab);
    Sampled sample(const std::vector<float> & logits);

  private:
    using Chain = std::unique_ptr<llama_sampler, Deleter<llama_sampler_free>>;
    int32_t choose(const std::vector<float> & logits, bool by_grammar);
    bool allows(int32_t token) const;
    void tell_chances(const std::vector<float> & logits, Sampled & sampled) const;

    Chain chain_, grammar_;
    int chances_;
    std::vector<llama_token_data> candidates_;
};

}  // namespace kvasir
