#include "vocab.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "engine/error.h"

namespace kvasir {

void check_vocabulary(const GgufFile & file) {
    const std::vector<std::string> tokens = file.strings("tokenizer.ggml.tokens");
    std::unordered_map<std::string_view, size_t> seen;
    for (size_t i = 0; i < tokens.size(); ++i) {
        if (tokens[i].empty()) continue;  // empty tokens get distinct names
        const auto [first, fresh] = seen.try_emplace(tokens[i], i);
        if (fresh) continue;
        throw Error("MODEL_INVALID",
                    "The vocabulary of " + file.path() + " lists the same token as number " +
                        std::to_string(first->second) + " and " + std::to_string(i) + ".",
                    "The file may be damaged; download it again.");
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
                    "The file may be damaged; download it again.");
    }
    vocab_ = llama_model_get_vocab(model_.get());
    require_usable(path);
    find_marks();
}

void Vocab::find_marks() {
    const auto looks_like_one = [](const std::string & text) {
        if (text.size() < 3) return false;
        return (text.front() == '<' && text.back() == '>') || (text.front() == '[' && text.back() == ']');
    };
    constexpr int parsed = LLAMA_TOKEN_ATTR_CONTROL | LLAMA_TOKEN_ATTR_USER_DEFINED | LLAMA_TOKEN_ATTR_UNKNOWN;
    for (int32_t token = 0; token < size(); ++token) {
        if (llama_vocab_get_attr(vocab_, token) & (parsed | LLAMA_TOKEN_ATTR_BYTE)) continue;
        const std::string mark = text(token);
        // A word such as <br> is built from its pieces; what no text yields was added for templates.
        if (looks_like_one(mark) && tokenize_behind(mark, false) != std::vector<int32_t>{token})
            marks_.emplace_back(mark, token);
    }
    std::sort(marks_.begin(), marks_.end(),
              [](const auto & a, const auto & b) { return a.first.size() > b.first.size(); });
}

void Vocab::require_usable(const std::string & path) const {
    if (is_none()) throw Error("MODEL_UNSUPPORTED", "The model " + path + " has no vocabulary.");
    try {
        tokenize("\xF0\x9F\xAB\xA8\n", false, false);  // a character that hardly any vocabulary contains
    } catch (const std::exception &) {
        throw Error("MODEL_INVALID", "The vocabulary of " + path + " lacks tokens to encode arbitrary text.",
                    "The file may be damaged; download it again.");
    }
}

std::vector<int32_t> Vocab::tokenize(const std::string & text, bool add_special, bool parse_special) const {
    std::vector<int32_t> out;
    size_t start = 0;
    for (size_t at = 0; parse_special && at < text.size() && !marks_.empty();) {
        const auto mark = std::find_if(marks_.begin(), marks_.end(), [&](const auto & each) {
            return text.compare(at, each.first.size(), each.first) == 0;
        });
        if (mark == marks_.end()) {
            ++at;
            continue;
        }
        append(out, text.substr(start, at - start), add_special && start == 0, true);
        out.push_back(mark->second);
        start = at += mark->first.size();
    }
    append(out, start == 0 ? text : text.substr(start), add_special && start == 0, parse_special);
    return out;
}

std::vector<int32_t> Vocab::tokenize_behind(const std::string & text, bool parse_special) const {
    // libllama has no flag for it, so this tokenises text after a newline and drops the newline.
    const std::vector<int32_t> line = tokenize("\n", false, false);
    const bool blank = !line.empty() && detokenize({line.front()}, false).front() == ' ';
    if (!blank || text.empty()) return tokenize(text, false, parse_special);
    const std::vector<int32_t> all = tokenize("\n" + text, false, parse_special);
    const auto end = all.begin() + std::ptrdiff_t(std::min(line.size(), all.size()));
    if (!std::equal(line.begin(), line.end(), all.begin(), end)) return tokenize(text, false, parse_special);
    return {end, all.end()};
}

void Vocab::append(std::vector<int32_t> & out, const std::string & text, bool add_special, bool parse_special) const {
    const size_t before = out.size();
    const auto fill = [&](size_t room) {
        out.resize(before + room);
        return llama_tokenize(vocab_, text.data(), int32_t(text.size()), out.data() + before, int32_t(room),
                              add_special, parse_special);
    };
    int32_t n = fill(text.size() + 8);
    if (n < 0) n = fill(size_t(-n));
    require(n >= 0, "libllama could not tokenise");
    out.resize(before + size_t(n));
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

Sampler::Sampler(const Sampling & s, const Vocab & vocab)
    : chain_(llama_sampler_chain_init(llama_sampler_chain_default_params())),
      chances_(s.chances) {
    if (!s.grammar.empty()) {
        grammar_.reset(llama_sampler_init_grammar(vocab.get(), s.grammar.c_str(), "root"));
        if (!grammar_) throw Error("BAD_ARGUMENT", "The output grammar is not valid GBNF.");
    }
    const auto add = [&](llama_sampler * x) { llama_sampler_chain_add(chain_.get(), x); };
    if (s.repeat_penalty != 1.0f) add(llama_sampler_init_penalties(vocab.size(), 64, s.repeat_penalty, 0.0f, 0.0f));
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

Sampled Sampler::sample(const std::vector<float> & logits) {
    Sampled sampled;
    sampled.token = choose(logits, false);
    // Checking every token against the grammar takes as long as a pass; usually the sampled one is allowed.
    if (grammar_ && !allows(sampled.token)) sampled.token = choose(logits, true);
    if (grammar_) llama_sampler_accept(grammar_.get(), sampled.token);
    llama_sampler_accept(chain_.get(), sampled.token);
    if (chances_ >= 0) tell_chances(logits, sampled);
    return sampled;
}

int32_t Sampler::choose(const std::vector<float> & logits, bool by_grammar) {
    candidates_.resize(logits.size());
    for (size_t i = 0; i < logits.size(); ++i) candidates_[i] = {int32_t(i), logits[i], 0.0f};
    llama_token_data_array array{candidates_.data(), candidates_.size(), -1, false};
    if (by_grammar) llama_sampler_apply(grammar_.get(), &array);
    llama_sampler_apply(chain_.get(), &array);
    require(array.selected >= 0, "the sampler chose nothing");
    const llama_token_data & chosen = array.data[array.selected];
    if (by_grammar && std::isinf(chosen.logit)) {
        throw Error("ENGINE_FAILED", "The output grammar allows none of the model's tokens.");
    }
    return chosen.id;
}

bool Sampler::allows(int32_t token) const {
    llama_token_data one{token, 1.0f, 0.0f};
    llama_token_data_array array{&one, 1, -1, false};
    llama_sampler_apply(grammar_.get(), &array);
    return !std::isinf(one.logit);
}

void Sampler::tell_chances(const std::vector<float> & logits, Sampled & sampled) const {
    const float most = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += std::exp(double(logit) - most);
    const double norm = most + std::log(sum);
    const auto logprob = [&](int32_t token) { return float(logits[size_t(token)] - norm); };
    sampled.logprob = logprob(sampled.token);
    std::vector<int32_t> ids(logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    const size_t count = std::min(size_t(chances_), ids.size());
    std::partial_sort(ids.begin(), ids.begin() + std::ptrdiff_t(count), ids.end(), [&](int32_t a, int32_t b) {
        return logits[size_t(a)] != logits[size_t(b)] ? logits[size_t(a)] > logits[size_t(b)] : a < b;
    });
    for (size_t i = 0; i < count; ++i) sampled.top.push_back({ids[i], logprob(ids[i])});
}

}  // namespace kvasir
