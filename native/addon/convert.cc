#include "addon/convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "engine/chunks/hash.h"
#include "engine/error.h"
#include "llama/embedder.h"
#include "llama/engine_choice.h"
#include "llama/header_numbers.h"

namespace kvasir::addon {

namespace {
[[noreturn]] void type_error(const Napi::Value & v, const char * name, const char * want) {
    throw Napi::TypeError::New(v.Env(), std::string(name) + " must be " + want);
}
double number_from(const Napi::Value & v, const char * name) {
    if (!v.IsNumber() || !std::isfinite(v.As<Napi::Number>().DoubleValue())) type_error(v, name, "a number");
    return v.As<Napi::Number>().DoubleValue();
}
}  // namespace

Napi::Object object_from(const Napi::Value & v, const char * name) {
    if (!v.IsObject()) type_error(v, name, "an object");
    return v.As<Napi::Object>();
}
std::vector<int32_t> tokens_from(const Napi::Value & v, const char * name) {
    if (!v.IsTypedArray() || v.As<Napi::TypedArray>().TypedArrayType() != napi_int32_array) {
        type_error(v, name, "an Int32Array");
    }
    auto a = v.As<Napi::Int32Array>();
    return {a.Data(), a.Data() + a.ElementLength()};
}
std::vector<std::vector<int32_t>> token_lists_from(const Napi::Value & v, const char * name) {
    if (!v.IsArray()) type_error(v, name, "an array");
    const auto lists = v.As<Napi::Array>();
    std::vector<std::vector<int32_t>> out;
    for (uint32_t i = 0; i < lists.Length(); ++i) out.push_back(tokens_from(lists.Get(i), name));
    return out;
}
std::string string_from(const Napi::Value & v, const char * name) {
    if (!v.IsString()) type_error(v, name, "a string");
    return v.As<Napi::String>().Utf8Value();
}
int int_from(const Napi::Value & v, const char * name) {
    const double d = number_from(v, name);
    if (std::fabs(d) > INT32_MAX || d != std::floor(d)) type_error(v, name, "a whole number");
    return int(d);
}

namespace {
std::vector<double> numbers_from(const Napi::Value & v, const char * name) {
    if (!v.IsArray()) type_error(v, name, "an array of numbers");
    auto list = v.As<Napi::Array>();
    std::vector<double> out;
    for (uint32_t i = 0; i < list.Length(); ++i) out.push_back(number_from(list.Get(i), name));
    return out;
}
std::vector<int> layers_from(const Napi::Value & v, const char * name) {
    std::vector<int> out;
    for (double d : numbers_from(v, name)) {
        if (d != double(int(d))) type_error(v, name, "an array of whole numbers");
        out.push_back(int(d));
    }
    return out;
}
DeviationOf deviation_from(const Napi::Value & v) {
    const std::string name = string_from(v, "strategy.of");
    if (name == "v") return DeviationOf::v;
    if (name == "k") return DeviationOf::k;
    if (name == "kv") return DeviationOf::kv;
    type_error(v, "strategy.of", "v, k or kv");
}
}  // namespace

StrategySpec strategy_from(const Napi::Value & v) {
    Napi::Object o = object_from(v, "strategy");
    StrategySpec s;
    s.name = string_from(o.Get("kind"), "strategy.kind");
    const std::vector<std::string> names = strategy_names();
    if (std::find(names.begin(), names.end(), s.name) == names.end()) {
        type_error(v, "strategy.kind", "the name of a strategy");
    }
    if (o.Has("checkLayers")) s.check_layers = layers_from(o.Get("checkLayers"), "strategy.checkLayers");
    if (o.Has("questionLayers")) s.question_layers = layers_from(o.Get("questionLayers"), "strategy.questionLayers");
    if (o.Has("tokens")) s.tokens = tokens_from(o.Get("tokens"), "strategy.tokens");
    if (o.Has("ratios")) s.ratios = numbers_from(o.Get("ratios"), "strategy.ratios");
    if (o.Has("of")) s.of = deviation_from(o.Get("of"));
    if (o.Has("shift")) s.shift = number_from(o.Get("shift"), "strategy.shift");
    if (o.Has("adaptive")) {
        Napi::Object a = object_from(o.Get("adaptive"), "strategy.adaptive");
        s.adaptive.cover = number_from(a.Get("cover"), "strategy.adaptive.cover");
        s.adaptive.least = number_from(a.Get("least"), "strategy.adaptive.least");
        s.adaptive.most = number_from(a.Get("most"), "strategy.adaptive.most");
    }
    return s;
}

size_t bytes_from(const Napi::Value & v, const char * name) {
    if (!v.IsNumber() || !(v.As<Napi::Number>().DoubleValue() >= 0)) type_error(v, name, "a number from 0 on");
    return size_t(std::min(v.As<Napi::Number>().DoubleValue(), 9007199254740991.0));
}

ByteSpan span_from(const Napi::Value & v, const char * name) {
    if (!v.IsTypedArray() || v.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) {
        type_error(v, name, "a Uint8Array");
    }
    const auto bytes = v.As<Napi::Uint8Array>();
    return {bytes.Data(), bytes.ByteLength()};
}

std::optional<TokenRange> range_from(const Napi::Value & v) {
    if (v.IsUndefined()) return std::nullopt;
    Napi::Object o = object_from(v, "segment.range");
    const int begin = int_from(o.Get("begin"), "segment.range.begin"),
              count = int_from(o.Get("count"), "segment.range.count");
    if (begin < 0 || count < 1) type_error(v, "segment.range", "a begin of 0 or more and a count of 1 or more");
    return TokenRange{size_t(begin), size_t(count)};
}

LoadOptions load_options_from(const Napi::Value & v) {
    LoadOptions options;
    if (v.IsUndefined()) return options;
    Napi::Object o = object_from(v, "loading");
    options.serial = o.Get("serial").ToBoolean();
    options.bytes_per_second = number_from(o.Get("bytesPerSecond"), "loading.bytesPerSecond");
    return options;
}

namespace {
Drafting drafting_from(const Napi::Value & v) {
    const std::string name = string_from(v, "sampling.drafting");
    if (name == "off") return Drafting::off;
    if (name == "measured") return Drafting::measured;
    if (name == "always") return Drafting::always;
    type_error(v, "sampling.drafting", "off, measured or always");
}
}  // namespace

Sampling sampling_from(const Napi::Value & v) {
    Napi::Object o = object_from(v, "sampling");
    Sampling s;
    s.temperature = float(number_from(o.Get("temperature"), "sampling.temperature"));
    s.top_k = int_from(o.Get("topK"), "sampling.topK");
    s.top_p = float(number_from(o.Get("topP"), "sampling.topP"));
    s.min_p = float(number_from(o.Get("minP"), "sampling.minP"));
    s.repeat_penalty = float(number_from(o.Get("repeatPenalty"), "sampling.repeatPenalty"));
    const double seed = number_from(o.Get("seed"), "sampling.seed");
    if (seed < 0 || seed > UINT32_MAX || seed != std::floor(seed)) {
        type_error(o.Get("seed"), "sampling.seed", "a whole number from 0 to 4294967295");
    }
    s.seed = uint32_t(seed);
    if (!o.Get("chances").IsUndefined()) s.chances = int_from(o.Get("chances"), "sampling.chances");
    if (!o.Get("grammar").IsUndefined()) s.grammar = string_from(o.Get("grammar"), "sampling.grammar");
    if (!o.Get("drafting").IsUndefined()) s.drafting = drafting_from(o.Get("drafting"));
    return s;
}

Napi::Int32Array tokens_to(Napi::Env env, const std::vector<int32_t> & v) {
    auto a = Napi::Int32Array::New(env, v.size());
    if (!v.empty()) std::memcpy(a.Data(), v.data(), v.size() * sizeof(int32_t));
    return a;
}
Napi::Float32Array floats_to(Napi::Env env, const std::vector<float> & v) {
    auto a = Napi::Float32Array::New(env, v.size());
    if (!v.empty()) std::memcpy(a.Data(), v.data(), v.size() * sizeof(float));
    return a;
}
Napi::Value progress_to(Napi::Env env, Progress p) {
    Napi::Object o = Napi::Object::New(env);
    o.Set("done", double(p.done));
    o.Set("total", double(p.total));
    return o;
}

namespace {
Napi::Value stats_to(Napi::Env env, const DeviationStats & s) {
    if (!s.tokens) return env.Null();
    Napi::Object o = Napi::Object::New(env);
    o.Set("tokens", s.tokens);
    o.Set("mean", s.mean);
    o.Set("p95", s.p95);
    return o;
}
}  // namespace

Napi::Value report_to(Napi::Env env, const AppendReport & r) {
    Napi::Object o = Napi::Object::New(env);
    o.Set("tokens", r.tokens);
    o.Set("reusableTokens", r.reusable_tokens);
    o.Set("recomputedTokens", r.recomputed_tokens);
    o.Set("processedTokens", r.processed_tokens);
    o.Set("bytesLoaded", double(r.bytes_loaded));
    o.Set("bytesCrossed", double(r.bytes_crossed));
    o.Set("totalMs", r.total_ms);
    Napi::Array layers = Napi::Array::New(env, r.layers.size());
    for (uint32_t i = 0; i < r.layers.size(); ++i) {
        const LayerReport & l = r.layers[i];
        Napi::Object e = Napi::Object::New(env);
        e.Set("layer", l.layer);
        e.Set("rows", l.rows);
        e.Set("loadStart", l.load_start);
        e.Set("loadEnd", l.load_end);
        e.Set("loadBytes", double(l.load_bytes));
        e.Set("placeMs", l.place_ms);
        e.Set("computeStart", l.compute_start);
        e.Set("computeEnd", l.compute_end);
        e.Set("recomputed", stats_to(env, l.recomputed));
        e.Set("stored", stats_to(env, l.stored));
        layers.Set(i, e);
    }
    o.Set("layers", layers);
    Napi::Array checks = Napi::Array::New(env, r.checks.size());
    for (uint32_t i = 0; i < r.checks.size(); ++i) {
        const CheckReport & c = r.checks[i];
        Napi::Object e = Napi::Object::New(env);
        e.Set("layer", c.layer);
        e.Set("ratio", double(c.ratio));
        e.Set("candidates", tokens_to(env, c.candidates));
        e.Set("deviation", floats_to(env, c.deviation));
        e.Set("selected", tokens_to(env, c.selected));
        checks.Set(i, e);
    }
    o.Set("checks", checks);
    o.Set("selected", tokens_to(env, r.selected));
    o.Set("question", env.Null());
    if (!r.question.layers.empty()) {
        Napi::Object q = Napi::Object::New(env);
        q.Set("layers", tokens_to(env, {r.question.layers.begin(), r.question.layers.end()}));
        q.Set("candidates", tokens_to(env, r.question.candidates));
        q.Set("attention", floats_to(env, r.question.attention));
        o.Set("question", q);
    }
    Napi::Object stages = Napi::Object::New(env);
    stages.Set("question", r.question_ms);
    stages.Set("place", r.place_ms);
    stages.Set("check", r.check_ms);
    stages.Set("select", r.select_ms);
    stages.Set("compute", r.compute_ms);
    stages.Set("loadWait", r.load_wait_ms);
    stages.Set("head", r.head_ms);
    o.Set("stages", stages);
    return o;
}

namespace {
// Hyperparameters under the standard keys in the header of a family that our engine does not run; 0 if absent.
Hparams plain_hparams(const GgufFile & file, const std::string & arch) {
    const auto count = [&](const char * key) {
        const std::string full = arch + "." + key;
        return file.is_array(full) ? 0 : int(std::min<uint64_t>(file.integer(full).value_or(0), 1u << 30));
    };
    Hparams hp;
    hp.n_layer = count("block_count");
    hp.n_embd = count("embedding_length");
    hp.n_head = count("attention.head_count");
    hp.n_head_kv = count("attention.head_count_kv");
    hp.head_dim = count("attention.key_length");
    if (!hp.n_head_kv) hp.n_head_kv = hp.n_head;
    if (!hp.head_dim && hp.n_head) hp.head_dim = hp.n_embd / hp.n_head;
    hp.n_ff = count("feed_forward_length");
    hp.n_ctx_train = count("context_length");
    hp.n_vocab = int(file.array_size("tokenizer.ggml.tokens"));
    return hp;
}

// What the file calls its model: name, repository, and the parts of its name put together with and without its size.
Napi::Array names_in(Napi::Env env, const GgufFile & file) {
    const auto part = [&](const char * key) { return file.string(std::string("general.") + key).value_or(""); };
    const auto joined = [&](std::initializer_list<const char *> keys) {
        std::string all;
        for (const char * key : keys) {
            const std::string text = part(key);
            if (!text.empty()) all += (all.empty() ? "" : "-") + text;
        }
        return all;
    };
    const std::string repository = part("repo_url");
    Napi::Array names = Napi::Array::New(env);
    for (const std::string & name : {part("name"), repository.substr(repository.rfind('/') + 1),
                                     joined({"basename", "size_label", "finetune", "version"}),
                                     joined({"basename", "finetune", "version"})})
        if (!name.empty()) names.Set(names.Length(), name);
    return names;
}
}  // namespace

Napi::Object gguf_info(Napi::Env env, const GgufFile & file) { return gguf_info(env, file, choose_engine(file)); }

namespace {
// Sampling parameters that the header recommends; absent ones are left out.
Napi::Object recommended_sampling(Napi::Env env, const GgufFile & file) {
    Napi::Object o = Napi::Object::New(env);
    const std::pair<const char *, const char *> keys[] = {
        {"temp", "temperature"}, {"top_k", "topK"}, {"top_p", "topP"}, {"min_p", "minP"},
        {"penalty_repeat", "repeatPenalty"},
    };
    for (const auto & [key, name] : keys) {
        try {
            if (const auto value = file.number(std::string("general.sampling.") + key)) o.Set(name, *value);
        } catch (const Error &) {
            continue;  // wrong type: no reason to reject the model
        }
    }
    return o;
}
}  // namespace

Napi::Object gguf_info(Napi::Env env, const GgufFile & file, const EngineChoice & choice) {
    Napi::Object o = Napi::Object::New(env);
    const std::string arch_name = file.string("general.architecture").value_or("");
    o.Set("architecture", arch_name);
    o.Set("name", file.string("general.name").value_or(""));
    o.Set("names", names_in(env, file));
    o.Set("pooling", pooling_of(file));
    o.Set("fileBytes", double(file.file_size()));
    o.Set("tensorCount", double(file.tensors().size()));
    double parameters = 0;
    std::map<std::string, int> types;
    for (auto & t : file.tensors()) {
        parameters += double(t.ne[0]) * double(t.ne[1]) * double(t.ne[2]) * double(t.ne[3]);
        types[ggml_type_name(t.type)]++;
    }
    o.Set("parameterCount", parameters);
    Napi::Object type_counts = Napi::Object::New(env);
    for (auto & [name, n] : types) type_counts.Set(name, n);
    o.Set("tensorTypes", type_counts);
    o.Set("tokenizerModel", file.string("tokenizer.ggml.model").value_or(""));
    o.Set("chatTemplate", file.string("tokenizer.chat_template").value_or(""));

    o.Set("sampling", recommended_sampling(env, file));

    const Hparams hp = choice.checked ? choice.checked->hparams : plain_hparams(file, arch_name);
    SessionMemory memory = session_memory(file, arch_name);
    if (choice.checked) {
        memory = {};
        for (int il = 0; il < hp.n_layer_kv; ++il) memory.values_per_token += 2.0 * hp.layer(il).kv_dim();
    }
    o.Set("engine", engine_name(choice.kind));
    o.Set("obstacle", choice.obstacle);
    o.Set("kvValuesPerToken", memory.values_per_token);
    o.Set("stateValues", memory.state_values);
    o.Set("embedding", Napi::Boolean::New(env, is_embedding_model(file)));
    o.Set("reranker", Napi::Boolean::New(env, is_reranker(file)));
    o.Set("unsupportedReason", choice.refusal);
    o.Set("layers", hp.n_layer);
    o.Set("kvLayers", choice.checked ? hp.n_layer_kv : hp.n_layer);
    o.Set("embeddingLength", hp.n_embd);
    o.Set("heads", hp.n_head);
    o.Set("kvHeads", hp.n_head_kv);
    std::set<int> head_dims{hp.head_dim};
    for (const LayerShape & layer : hp.layers) head_dims.insert(layer.head_dim);
    Napi::Array sizes = Napi::Array::New(env);
    for (int size : head_dims) sizes.Set(sizes.Length(), size);
    o.Set("headDims", sizes);
    o.Set("feedForwardLength", hp.n_ff);
    o.Set("contextTrain", hp.n_ctx_train);
    o.Set("vocabSize", hp.n_vocab);
    o.Set("ropeBase", double(hp.ropes.front().freq_base));
    o.Set("ropeScaling", hp.rope_scaling);
    const auto layers = [&](auto which) { return double(std::count_if(hp.layers.begin(), hp.layers.end(), which)); };
    Napi::Array windows = Napi::Array::New(env);
    for (size_t il = 0; hp.window && il < hp.layers.size(); ++il) {
        windows.Set(uint32_t(il), hp.layers[il].windowed ? hp.window : 0);
    }
    o.Set("windows", windows);
    o.Set("unrotatedLayers", layers([](const LayerShape & l) { return l.rope < 0; }));
    o.Set("experts", hp.experts.count);
    o.Set("expertsUsed", hp.experts.used);
    o.Set("expertFeedForwardLength", hp.experts.n_ff);
    return o;
}

void set_vocabulary(Napi::Object o, const Vocab & vocab) {
    o.Set("bosToken", vocab.bos());
    o.Set("eosToken", vocab.eos());
    o.Set("addBos", Napi::Boolean::New(o.Env(), vocab.add_bos()));
    o.Set("bosText", vocab.text(vocab.bos()));
    o.Set("eosText", vocab.text(vocab.eos()));
}

Napi::Object model_info(Napi::Env env, Model & model) {
    Napi::Object o = gguf_info(env, model.weights().file());
    set_vocabulary(o, model.vocab());
    o.Set("fingerprint", model.fingerprint_hex());
    o.Set("prefixRoot", to_hex(model.kv_pool().root()));
    o.Set("kvDtype", dtype_name(model.kv_pool().dtype()));
    o.Set("kvBlockTokens", kKvBlock);
    Napi::Object buffers = Napi::Object::New(env);
    for (auto & [name, bytes] : model.weights().buffers()) buffers.Set(name, double(bytes));
    o.Set("buffers", buffers);
    Napi::Array devices = Napi::Array::New(env);
    for (int il = 0; il < model.hparams().n_layer; ++il) devices.Set(uint32_t(il), model.weights().device(il).name());
    o.Set("layerDevices", devices);
    o.Set("threads", model.threads());
    o.Set("loadMs", model.load_ms());
    return o;
}

}  // namespace kvasir::addon
