#include "embedder.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <initializer_list>

#include "engine/abort.h"
#include "engine/clock.h"
#include "engine/error.h"
#include "engine/gguf/gguf_file.h"
#include "engine/gguf/vocab.h"
#include "engine/scheduling/cores.h"

namespace kvasir {

namespace {

// Tokens to reserve memory for at first, since chunks are short; and the longest text, if the model was trained for it:
// an encoder takes a text in one pass, and its memory grows with the square of the length.
constexpr int kFirstContext = 2048, kMaxEncoderContext = 8192, kMaxDecoderContext = 32768;

const char * kEncoders[] = {"bert",     "nomic-bert", "nomic-bert-moe", "jina-bert-v2",   "jina-bert-v3", "modern-bert",
                            "neo-bert", "eurobert",   "t5encoder",      "gemma-embedding", "llama-embed"};

// Words that may reveal a file's purpose, in lower case, joined by hyphens: names, hub tags, the file's name. Many
// conversions leave out pooling_type.
std::string words_of(const GgufFile & file) {
    std::string words = "-";
    const auto add = [&](const std::string & text) { words += text + "-"; };
    for (const char * key : {"name", "basename", "finetune"})
        add(file.string(std::string("general.") + key).value_or(""));
    for (const std::string & tag : file.strings("general.tags")) add(tag);
    add(std::filesystem::path(file.path()).stem().string());
    for (char & c : words) {
        c = char(std::tolower(static_cast<unsigned char>(c)));
        if (c == ' ' || c == '_' || c == '.') c = '-';
    }
    return words;
}

bool has_any(const std::string & words, std::initializer_list<const char *> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const char * part) { return words.find(part) != std::string::npos; });
}

bool is_encoder(const std::string & arch) {
    return std::find(std::begin(kEncoders), std::end(kEncoders), arch) != std::end(kEncoders);
}

const char * pooling_name(enum llama_pooling_type pooling) {
    switch (pooling) {
        case LLAMA_POOLING_TYPE_MEAN: return "mean";
        case LLAMA_POOLING_TYPE_CLS: return "cls";
        case LLAMA_POOLING_TYPE_LAST: return "last";
        case LLAMA_POOLING_TYPE_RANK: return "rank";
        default: return "";
    }
}

bool has_classifier(const GgufFile & file) { return file.find("cls.weight") || file.find("cls.output.weight"); }

// The prompt that Qwen3-Reranker was trained with (its model card); its answer is yes or no.
const char * kQwen3Prompt =
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
    "provided. Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n"
    "<Instruct>: Given a web search query, retrieve relevant passages that answer the query\n"
    "<Query>: {query}\n<Document>: {document}<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n";

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }

void append(std::vector<int32_t> & to, const std::vector<int32_t> & tokens) {
    to.insert(to.end(), tokens.begin(), tokens.end());
}

Error unsupported(const std::string & path, const std::string & why) {
    return Error("MODEL_UNSUPPORTED", "The model " + path + " cannot be used for search: " + why + ".",
                 "Choose an embedding model or a reranker, such as one of the BERT family.");
}

// libllama trusts a header and aborts the process on implausible values, so every number that it may compute with or
// reserve memory by is checked. MODEL_INVALID.
void check_numbers(const GgufFile & file, const std::string & arch) {
    const auto invalid = [&](const std::string & what) {
        throw Error("MODEL_INVALID", "The header of the model " + file.path() + " is invalid: " + what + ".",
                    "The file may be damaged; download it again.");
    };
    for (const std::string & key : file.keys()) {
        if (!key.starts_with(arch + ".") || !file.is_real(key)) continue;
        const double value = *file.number(key), most = key.ends_with("_epsilon") ? 1 : 1e15;
        if (!(value >= 0 && value <= most)) invalid(key + " = " + std::to_string(value));
    }
    const auto count = [&](const char * name, uint64_t most, bool required) -> uint64_t {
        const std::string key = arch + "." + name;
        if (file.is_array(key)) return 0;
        const auto value = file.integer(key);
        if (!value && required) invalid("it lacks " + key);
        if (value && (*value < 1 || *value > most)) invalid(key + " = " + std::to_string(*value));
        return value.value_or(0);
    };
    const uint64_t width = count("embedding_length", 1u << 17, true), heads = count("attention.head_count", 1024, true),
                   kv_heads = count("attention.head_count_kv", 1024, false);
    count("block_count", 1024, true), count("context_length", 1u << 24, true);
    count("feed_forward_length", 1u << 20, false);
    const uint64_t head = count("attention.key_length", 1024, false);
    const uint64_t value = count("attention.value_length", 1024, false);
    count("rope.dimension_count", 1024, false);
    // libllama's graphs of the BERT family require that the heads add up to the width.
    const bool bert = arch.find("bert") != std::string::npos;
    if (heads && (bert || !head) && width % heads != 0) invalid("its width is not a multiple of its head count");
    const auto odd = [&](uint64_t length) { return length && length * heads != width; };
    if (bert && heads && (odd(head) || odd(value))) invalid("its heads do not add up to its width");
    if (heads && kv_heads && heads % kv_heads != 0) invalid("its head count is not a multiple of its KV head count");
    if (file.integer(arch + ".pooling_type").value_or(0) > LLAMA_POOLING_TYPE_RANK) invalid("unknown pooling type");
}

}  // namespace

std::string pooling_of(const GgufFile & file) {
    const std::string arch = file.string("general.architecture").value_or("");
    return pooling_name(static_cast<enum llama_pooling_type>(file.integer(arch + ".pooling_type").value_or(0)));
}

bool is_embedding_model(const GgufFile & file) {
    const std::string arch = file.string("general.architecture").value_or("");
    const uint64_t pooling = file.integer(arch + ".pooling_type").value_or(LLAMA_POOLING_TYPE_NONE);
    if (is_reranker(file)) return false;
    if (pooling != LLAMA_POOLING_TYPE_NONE || is_encoder(arch)) return true;
    return has_any(words_of(file), {"embedding", "-embed-", "-e5-", "-gte-", "-bge-", "-retriever-", "-sentence-"});
}

bool is_reranker(const GgufFile & file) {
    const std::string arch = file.string("general.architecture").value_or("");
    if (file.integer(arch + ".pooling_type") == LLAMA_POOLING_TYPE_RANK || has_classifier(file)) return true;
    return has_any(words_of(file), {"rerank", "-zerank-", "-text-ranking-"});
}

Embedder::Embedder(const std::string & path, const EmbedderOptions & options)
    : file_(path), threads_(usable_threads(options.threads), options.threads > 0), ranks_(is_reranker(file_)) {
    const auto start = Clock::now();
    architecture_ = file_.string("general.architecture").value_or("");
    name_ = file_.string("general.name").value_or("");
    check_numbers(file_, architecture_);
    load(options.device);
    if (ranks_) prepare_ranking();
    if (llama_model_has_encoder(model_.get()) && llama_model_has_decoder(model_.get())) {
        throw unsupported(path, "it is an encoder with a decoder");
    }
    const bool encoder = is_encoder(architecture_);
    context_ = std::clamp(llama_model_n_ctx_train(model_.get()), 1, encoder ? kMaxEncoderContext : kMaxDecoderContext);
    if (options.tokens > 0) context_ = std::min(context_, options.tokens);
    reserve(kFirstContext);
    // In a decoder the last token has seen all others, the first none.
    if (pooling_ == LLAMA_POOLING_TYPE_NONE && yes_ < 0) {
        pooling_ = encoder ? LLAMA_POOLING_TYPE_MEAN : LLAMA_POOLING_TYPE_LAST;
        for (auto named : {LLAMA_POOLING_TYPE_MEAN, LLAMA_POOLING_TYPE_CLS, LLAMA_POOLING_TYPE_LAST})
            if (options.pooling == pooling_name(named)) pooling_ = named;
        reserve(kFirstContext);
    }
    const bool bert = architecture_.find("bert") != std::string::npos;
    if (bert) begin_ = vocab_->bos();
    if (bert && vocab_->sep() >= 0) end_ = vocab_->sep();
    else if (bert || pooling_ == LLAMA_POOLING_TYPE_LAST) end_ = vocab_->eos();
    if (!options.end.empty()) {
        const std::vector<int32_t> end = vocab_->tokenize(options.end, false, true);
        if (end.size() == 1) end_ = end[0];
    }
    dimension_ = llama_model_n_embd_out(model_.get());
    load_ms_ = ms_since(start);
}

void Embedder::prepare_ranking() {
    const std::string & path = file_.path();
    if (has_classifier(file_)) {
        pooling_ = LLAMA_POOLING_TYPE_RANK;
        labels_ = llama_model_n_cls_out(model_.get());
        const char * prompt = llama_model_chat_template(model_.get(), "rerank");
        if (prompt || architecture_ == "qwen3") prompt_ = prompt ? prompt : kQwen3Prompt;
        else if (!is_encoder(architecture_)) throw unsupported(path, "it is a reranker whose prompt is unknown");
        // Only of Qwen3's labels does libllama compute probabilities.
        if (labels_ > 1 && architecture_ != "qwen3") throw unsupported(path, "it is a classifier with several labels");
        for (uint32_t i = 0; i < labels_; ++i) {
            const char * name = llama_model_cls_label(model_.get(), i);
            if (name && std::string(name) == "yes") label_ = i;
        }
        return;
    }
    const auto token = [&](const char * word) {
        const std::vector<int32_t> tokens = vocab_->tokenize(word, false, false);
        return tokens.size() == 1 ? tokens[0] : -1;
    };
    if (architecture_ == "qwen3" && has_any(words_of(file_), {"qwen3-reranker"})) {
        pooling_ = LLAMA_POOLING_TYPE_NONE;
        prompt_ = kQwen3Prompt, yes_ = token("yes"), no_ = token("no");
    }
    if (yes_ < 0 || no_ < 0) {
        throw unsupported(path, "it is a reranker without a classifier, and Kvasir does not know its prompt");
    }
}

void Embedder::load(const std::string & device) {
    const std::string & path = file_.path();
    check_vocabulary(file_);
    try {
        vocab_ = std::make_unique<Vocab>(file_);
    } catch (const Error &) {
        throw unsupported(path, "its architecture (\"" + architecture_ + "\") or its vocabulary is unknown");
    }
    if (vocab_->is_none()) throw unsupported(path, "it has no vocabulary");
    llama_model_params params = llama_model_default_params();
    params.use_extra_bufts = !has_faulty_layout();
    ggml_backend_dev_t devices[2] = {nullptr, nullptr};
    if (device == "cpu") {
        params.devices = devices;  // an empty list: only the processor
        params.n_gpu_layers = 0;
    } else if (device != "auto") {
        devices[0] = ggml_backend_dev_by_name(device.c_str());
        if (!devices[0]) {
            throw Error("BAD_ARGUMENT", "Unknown device: \"" + device + "\".",
                        "Use auto, cpu, or one that is listed.");
        }
        if (ggml_backend_dev_type(devices[0]) == GGML_BACKEND_DEVICE_TYPE_CPU) params.n_gpu_layers = 0;
        else params.devices = devices;
    }
    model_.reset(llama_model_load_from_file(path.c_str(), params));
    if (!model_) {
        throw Error(
            "MODEL_INVALID",
            "The weights of " + path + " could not be loaded: one is missing or of a wrong shape, or memory ran out.",
            "The file may be damaged; download it again, or close other programs.");
    }
    file_.watch_other_mappings();
}

void Embedder::reserve(int tokens) {
    llama_context_params params = llama_context_default_params();
    params.n_ctx = params.n_batch = uint32_t(std::min(tokens, context_));
    // An encoder needs the whole text in one pass.
    params.n_ubatch = is_encoder(architecture_) ? params.n_ctx : std::min(params.n_ctx, uint32_t(kFirstContext));
    params.n_seq_max = 1;
    params.n_threads = params.n_threads_batch = threads_.most();
    params.pooling_type = pooling_;
    params.embeddings = yes_ < 0;
    params.no_perf = true;
    ctx_.reset();
    ctx_.reset(llama_init_from_model(model_.get(), params));
    if (!ctx_) {
        throw Error("OUT_OF_MEMORY", "There is not enough memory for the embedding model.",
                    "Close other programs or use a smaller model.");
    }
    pooling_ = llama_pooling_type(ctx_.get());
}

const char * Embedder::pooling() const {
    return pooling_ == LLAMA_POOLING_TYPE_NONE ? "rank" : pooling_name(pooling_);  // none: by the logits of yes and no
}

std::vector<int32_t> Embedder::tokenize(const std::string & text) const {
    std::vector<int32_t> tokens = vocab_->tokenize(text, true, false);
    if (begin_ >= 0 && (tokens.empty() || tokens.front() != begin_)) tokens.insert(tokens.begin(), begin_);
    // Conversions of Qwen3-Embedding name the end of a chat turn as the end of a text.
    if (end_ >= 0 && llama_vocab_get_add_eos(vocab_->get()) && !tokens.empty() && tokens.back() == vocab_->eos()) {
        tokens.pop_back();
    }
    if (end_ >= 0 && (tokens.empty() || tokens.back() != end_)) tokens.push_back(end_);
    return tokens;
}

std::vector<int32_t> Embedder::cut(std::vector<int32_t> tokens) const {
    if (int(tokens.size()) <= context_) return tokens;
    const int32_t last = tokens.back();
    tokens.resize(size_t(context_));
    // A truncated text still ends with the token that the model pools or was trained to end with.
    if (end_ >= 0 || vocab_->adds_end()) tokens.back() = last;
    return tokens;
}

std::vector<int32_t> Embedder::pair(const std::string & query, const std::string & text) const {
    const auto plain = [&](const std::string & words) { return vocab_->tokenize(words, false, false); };
    const auto shorten = [](std::vector<int32_t> & tokens, int most) {
        tokens.resize(std::min(tokens.size(), size_t(std::max(most, 0))));
    };
    std::vector<int32_t> out;
    if (!prompt_.empty()) {
        // Control tokens stand only before and after the part that has query and text, in which nothing becomes one.
        const size_t asked = prompt_.find("{query}"), told = prompt_.find("{document}");
        if (asked == std::string::npos || told == std::string::npos || told < asked) {
            throw unsupported(file_.path(), "its prompt does not name query and document");
        }
        const size_t before = prompt_.rfind("|>", asked), after = prompt_.find("<|", told);
        const size_t start = before == std::string::npos ? 0 : before + 2, end = std::min(after, prompt_.size());
        const std::vector<int32_t> tail = vocab_->tokenize_behind(prompt_.substr(end), true);
        std::vector<int32_t> words = plain(query);
        const bool fits = int(words.size()) <= context_ / 2;
        shorten(words, context_ / 2);
        const std::string question = fits ? query : vocab_->detokenize(words, false);
        const size_t joint = asked + std::strlen("{query}"), last = told + std::strlen("{document}");
        std::vector<int32_t> middle =
            vocab_->tokenize_behind(prompt_.substr(start, asked - start) + question +
                                        prompt_.substr(joint, told - joint) + text + prompt_.substr(last, end - last),
                                    false);
        out = vocab_->tokenize(prompt_.substr(0, start), true, true);
        shorten(middle, context_ - int(out.size() + tail.size()));
        append(out, middle), append(out, tail);
        return out;
    }
    if (begin_ >= 0) out.push_back(begin_);
    std::vector<int32_t> words = plain(query);
    shorten(words, context_ / 2);
    append(out, words);
    if (end_ >= 0) out.push_back(end_);
    // RoBERTa and XLM-R separate by two tokens, BERT by one.
    if (llama_vocab_get_add_eos(vocab_->get()) && llama_vocab_get_add_sep(vocab_->get())) out.push_back(vocab_->sep());
    std::vector<int32_t> told = plain(text);
    shorten(told, context_ - int(out.size()) - 1);
    append(out, told);
    if (end_ >= 0) out.push_back(end_);
    return out;
}

void Embedder::begin(const std::vector<std::vector<int32_t>> & texts, const std::atomic<bool> * abort) {
    size_t longest = 0;
    for (const auto & tokens : texts) longest = std::max(longest, tokens.size());
    // No context: an earlier text needed more memory than available.
    if (!ctx_ || longest > llama_n_ctx(ctx_.get())) {
        reserve(int(std::bit_ceil(std::max(longest, size_t(kFirstContext)))));
    }
    const auto poll = [](void * flag) { return is_aborted(static_cast<const std::atomic<bool> *>(flag)); };
    llama_set_abort_callback(ctx_.get(), poll, const_cast<std::atomic<bool> *>(abort));
}

void Embedder::compute(std::vector<int32_t> & tokens) {
    if (llama_memory_t memory = llama_get_memory(ctx_.get())) llama_memory_clear(memory, false);
    const llama_batch batch = llama_batch_get_one(tokens.data(), int32_t(tokens.size()));
    const auto compute = llama_model_has_encoder(model_.get()) ? llama_encode : llama_decode;
    const int32_t status = threads_.run([&](int n) { llama_set_n_threads(ctx_.get(), n, n); },
                                        [&] { return compute(ctx_.get(), batch); });
    if (status == 2) throw Error("ABORTED", "The computation was stopped.");
    if (status != 0) throw Error("ENGINE_FAILED", "The model could not compute a text.");
}

void Embedder::embed_one(std::vector<int32_t> & tokens, float * out) {
    compute(tokens);
    const float * vector = llama_get_embeddings_seq(ctx_.get(), 0);
    if (!vector) throw Error("ENGINE_FAILED", "The embedding model could not compute a text.");
    double sum = 0;
    for (int i = 0; i < dimension_; ++i) sum += double(vector[i]) * vector[i];
    const double scale = sum > 0 ? 1 / std::sqrt(sum) : 0;
    for (int i = 0; i < dimension_; ++i) out[i] = float(vector[i] * scale);
}

float Embedder::score_one(std::vector<int32_t> & tokens) {
    compute(tokens);
    if (yes_ >= 0) {
        const float * logits = llama_get_logits_ith(ctx_.get(), -1);
        if (logits) return sigmoid(logits[yes_] - logits[no_]);
    } else if (const float * scores = llama_get_embeddings_seq(ctx_.get(), 0)) {
        return labels_ > 1 ? scores[label_] : sigmoid(scores[0]);
    }
    throw Error("ENGINE_FAILED", "The reranker could not compute a text.");
}

std::vector<float> Embedder::embed(const std::vector<std::string> & texts, const std::atomic<bool> * abort) {
    if (ranks_) throw Error("BAD_ARGUMENT", "A reranker gives no vectors.");
    file_.require_unchanged();
    std::vector<std::vector<int32_t>> tokens;
    for (const std::string & text : texts) tokens.push_back(cut(tokenize(text)));
    begin(tokens, abort);
    std::vector<float> out(texts.size() * size_t(dimension_), 0.0f);
    for (size_t i = 0; i < texts.size(); ++i) {
        if (is_aborted(abort)) throw Error("ABORTED", "Embedding was stopped.");
        if (!tokens[i].empty()) embed_one(tokens[i], out.data() + i * size_t(dimension_));
    }
    file_.require_unchanged();
    return out;
}

std::vector<float> Embedder::rank(const std::string & query, const std::vector<std::string> & texts,
                                  const std::atomic<bool> * abort) {
    if (!ranks_) throw Error("BAD_ARGUMENT", "An embedding model scores no passages.");
    file_.require_unchanged();
    std::vector<std::vector<int32_t>> tokens;
    for (const std::string & text : texts) tokens.push_back(pair(query, text));
    begin(tokens, abort);
    std::vector<float> out;
    for (std::vector<int32_t> & each : tokens) {
        if (is_aborted(abort)) throw Error("ABORTED", "Ranking was stopped.");
        out.push_back(score_one(each));
    }
    file_.require_unchanged();
    return out;
}

}  // namespace kvasir
