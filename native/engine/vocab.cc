#include "vocab.h"

#include <string_view>
#include <unordered_map>

#include "error.h"

namespace kvasir {

void check_vocabulary(const GgufFile & file) {
    const std::vector<std::string> tokens = file.strings("tokenizer.ggml.tokens");
    std::unordered_map<std::string_view, size_t> seen;
    for (size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].empty()) continue;  // each gets a name of its own
        const auto [first, fresh] = seen.try_emplace(tokens[i], i);
        if (fresh) continue;
        throw Error("MODEL_INVALID",
                    "The vocabulary of " + file.path() + " lists the same token as number " +
                        std::to_string(first->second) + " and " + std::to_string(i) + ".",
                    "The file may be damaged; fetch it again.");
    }
}

Vocab::Vocab(const GgufFile & file) {
    const std::string & path = file.path();
    check_vocabulary(file);
    llama_model_params params = llama_model_default_params();
    params.vocab_only = true;
    params.n_gpu_layers = 0;
    model_.reset(llama_model_load_from_file(path.c_str(), params));
    if (!model_) {
        throw Error("MODEL_INVALID", "The vocabulary of " + path + " could not be read.",
                    "The file may be damaged; fetch it again.");
    }
    vocab_ = llama_model_get_vocab(model_.get());
    require_usable(path);
}

void Vocab::require_usable(const std::string & path) const {
    if (is_none()) throw Error("MODEL_UNSUPPORTED", "The model " + path + " has no vocabulary.");
    try {
        tokenize("\xF0\x9F\xAB\xA8\n", false, false);  // a character that hardly any vocabulary lists
    } catch (const std::exception &) {
        throw Error("MODEL_INVALID", "The vocabulary of " + path + " lacks tokens that every text can be written with.",
                    "The file may be damaged; fetch it again.");
    }
}

std::vector<int32_t> Vocab::tokenize(const std::string & text, bool add_special, bool parse_special) const {
    std::vector<int32_t> out(text.size() + 8);
    int32_t n = llama_tokenize(vocab_, text.data(), int32_t(text.size()), out.data(), int32_t(out.size()), add_special,
                               parse_special);
    if (n < 0) {
        out.resize(size_t(-n));
        n = llama_tokenize(vocab_, text.data(), int32_t(text.size()), out.data(), int32_t(out.size()), add_special,
                           parse_special);
    }
    require(n >= 0, "libllama could not tokenise");
    out.resize(size_t(n));
    return out;
}

std::string Vocab::detokenize(const std::vector<int32_t> & tokens, bool special) const {
    // Piece by piece: llama_detokenize strips a leading space, which a streamed continuation must keep.
    std::string out;
    char buffer[256];
    for (int32_t t : tokens) {
        if (t < 0 || t >= size()) continue;
        int32_t n = llama_token_to_piece(vocab_, t, buffer, sizeof buffer, 0, special);
        if (n >= 0) {
            out.append(buffer, size_t(n));
        } else {
            std::string large(size_t(-n), '\0');
            n = llama_token_to_piece(vocab_, t, large.data(), int32_t(large.size()), 0, special);
            out.append(large, 0, size_t(n > 0 ? n : 0));
        }
    }
    return out;
}

std::string Vocab::text(int32_t token) const {
    return token < 0 || token >= size() ? "" : llama_vocab_get_text(vocab_, token);
}

Sampler::Sampler(const Sampling & s, int n_vocab)
    : chain_(llama_sampler_chain_init(llama_sampler_chain_default_params())) {
    const auto add = [&](llama_sampler * x) { llama_sampler_chain_add(chain_.get(), x); };
    if (s.repeat_penalty != 1.0f) add(llama_sampler_init_penalties(n_vocab, 64, s.repeat_penalty, 0.0f, 0.0f));
    if (s.temperature <= 0) {
        add(llama_sampler_init_greedy());
        return;
    }
    if (s.top_k > 0) add(llama_sampler_init_top_k(s.top_k));
    if (s.top_p < 1) add(llama_sampler_init_top_p(s.top_p, 1));
    if (s.min_p > 0) add(llama_sampler_init_min_p(s.min_p, 1));
    add(llama_sampler_init_temp(s.temperature));
    add(llama_sampler_init_dist(s.seed));
}

int32_t Sampler::sample(const std::vector<float> & logits) {
    candidates_.resize(logits.size());
    for (size_t i = 0; i < logits.size(); ++i) candidates_[i] = {int32_t(i), logits[i], 0.0f};
    llama_token_data_array array{candidates_.data(), candidates_.size(), -1, false};
    llama_sampler_apply(chain_.get(), &array);
    require(array.selected >= 0, "the sampler chose nothing");
    const int32_t token = array.data[array.selected].id;
    llama_sampler_accept(chain_.get(), token);
    return token;
}

}  // namespace kvasir
