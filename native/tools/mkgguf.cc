// Makes GGUF files with random weights: small ones of every architecture and weight type for parity tests (including
// bert, for embedding tests), and ones of a given shape for benches. The vocabulary is the byte alphabet plus filler
// tokens, so any text can be tokenised.
//   kvasir-mkgguf --out FILE [--arch llama] [--type f16] [--layers 4] [--embd 256] [--heads 4] [--kv-heads 2]
//                 [--head-dim 64] [--ff 512] [--vocab 512] [--context 4096] [--rope none|linear|yarn|llama3|longrope]
//                 [--rope-base 10000] [--untied] [--endless] [--seed 1] [--pooling 1] [--window 0]
//                 [--experts 8] [--experts-used 2] [--expert-ff 128] [--expert-type TYPE]
//                 [--name NAME] [--tokenizer FILE], a GGUF whose vocabulary is used instead
//                 Gemma 4: [--variant e2b|31b|26b-a4b] [--window-period 2] [--shared-kv 0]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ggml.h"
#include "gguf.h"
#include "mkgguf_families.h"

namespace {

struct Spec {
    std::string out, arch = "llama", type = "f16", rope = "none", expert_type, variant = "e2b", name, tokenizer;
    int layers = 4, embd = 256, heads = 4, kv_heads = 2, head_dim = 64, ff = 512, vocab = 512, context = 4096, seed = 1,
        pooling = -1,  // libllama's numbering: 0 none, 1 mean, 2 cls, 3 last, 4 rank
        window = 0, window_period = 2, shared_kv = 0, experts = 8, experts_used = 2, expert_ff = 128;
    float rope_base = 10000;
    bool untied = false;
    bool endless = false;  // never ends a text: the end token's logit is 0, and another one is larger
};

Spec parse(int argc, char ** argv) {
    Spec s;
    std::map<std::string, std::string *> texts{
        {"--out", &s.out},   {"--arch", &s.arch}, {"--type", &s.type},
        {"--rope", &s.rope}, {"--expert-type", &s.expert_type}, {"--variant", &s.variant},
        {"--name", &s.name}, {"--tokenizer", &s.tokenizer}};
    std::map<std::string, int *> numbers{
        {"--layers", &s.layers},     {"--embd", &s.embd},      {"--heads", &s.heads}, {"--kv-heads", &s.kv_heads},
        {"--head-dim", &s.head_dim}, {"--ff", &s.ff},          {"--vocab", &s.vocab}, {"--context", &s.context},
        {"--seed", &s.seed},         {"--pooling", &s.pooling}, {"--window", &s.window},
        {"--window-period", &s.window_period}, {"--shared-kv", &s.shared_kv},
        {"--experts", &s.experts}, {"--experts-used", &s.experts_used}, {"--expert-ff", &s.expert_ff}};
    for (int i = 1; i < argc; ++i) {
        const std::string flag = argv[i];
        if (flag == "--untied") { s.untied = true; continue; }
        if (flag == "--endless") { s.endless = true; continue; }
        if (i + 1 == argc) throw std::runtime_error("no value for " + flag);
        if (texts.count(flag)) *texts[flag] = argv[++i];
        else if (numbers.count(flag)) *numbers[flag] = std::atoi(argv[++i]);
        else if (flag == "--rope-base") s.rope_base = float(std::atof(argv[++i]));
        else throw std::runtime_error("unknown option " + flag);
    }
    if (s.out.empty()) throw std::runtime_error("--out FILE is needed");
    if (s.arch == "gemma4" && !s.window) s.window = s.context / 2;  // Gemma 4 always has a window
    return s;
}

ggml_type type_named(const std::string & name) {
    for (int t = 0; t < GGML_TYPE_COUNT; ++t)
        if (ggml_type_name(ggml_type(t)) && name == ggml_type_name(ggml_type(t))) return ggml_type(t);
    throw std::runtime_error("unknown type " + name);
}

class Writer {
  public:
    explicit Writer(const Spec & s)
        : s_(s), family_(mkgguf::family_named(s.arch)), type_(type_named(s.type)),
          expert_type_(s.expert_type.empty() ? type_ : type_named(s.expert_type)), g_(gguf_init_empty()) {
        ctx_ = ggml_init({ggml_tensor_overhead() * size_t(s.layers * 32 + 8), nullptr, true});
    }
    ~Writer() {
        gguf_free(g_);
        ggml_free(ctx_);
    }

    void write() {
        if (!s_.tokenizer.empty()) copy_vocabulary();
        metadata();
        if (s_.tokenizer.empty()) s_.arch == "bert" ? bert_vocabulary() : vocabulary();
        s_.arch == "bert" ? bert_tensors() : tensors();
        if (!gguf_write_to_file(g_, s_.out.c_str(), false)) throw std::runtime_error("could not write " + s_.out);
    }

  private:
    void metadata() {
        const std::string p = s_.arch + ".";
        gguf_set_val_str(g_, "general.architecture", s_.arch.c_str());
        // libllama looks for tokens of Phi 3's vocabulary if the name suggests it.
        const std::string name = s_.arch == "phi3" ? "random phi" : "random " + s_.arch;
        gguf_set_val_str(g_, "general.name", s_.name.empty() ? name.c_str() : s_.name.c_str());
        const auto u32 = [&](const char * key, int v) { gguf_set_val_u32(g_, (p + key).c_str(), uint32_t(v)); };
        u32("block_count", s_.layers);
        u32("context_length", s_.context);
        u32("embedding_length", s_.embd);
        u32("feed_forward_length", s_.ff);
        u32("attention.head_count", s_.heads);
        u32("attention.head_count_kv", s_.kv_heads);
        u32("attention.key_length", s_.head_dim);
        u32("attention.value_length", s_.head_dim);
        u32("rope.dimension_count", s_.head_dim / family_.rotated);
        if (has_experts()) u32("expert_feed_forward_length", s_.expert_ff);
        u32("vocab_size", s_.vocab);
        gguf_set_val_f32(g_, (p + "attention.layer_norm_rms_epsilon").c_str(), 1e-5f);
        gguf_set_val_f32(g_, (p + "rope.freq_base").c_str(), s_.rope_base);
        if (s_.pooling >= 0) u32("pooling_type", s_.pooling);
        if (s_.arch == "bert") {
            gguf_set_val_f32(g_, (p + "attention.layer_norm_epsilon").c_str(), 1e-12f);
            gguf_set_val_bool(g_, (p + "attention.causal").c_str(), false);
            gguf_set_val_u32(g_, "tokenizer.ggml.token_type_count", 2);
        }
        if (s_.rope == "linear" || s_.rope == "yarn") {
            gguf_set_val_str(g_, (p + "rope.scaling.type").c_str(), s_.rope.c_str());
            gguf_set_val_f32(g_, (p + "rope.scaling.factor").c_str(), 4.0f);
            u32("rope.scaling.original_context_length", s_.context / 4);
        }
        mkgguf::family_keys(g_, s_.arch, numbers(), s_.rope);
    }

    mkgguf::Numbers numbers() const {
        return {s_.layers, s_.embd, s_.heads, s_.kv_heads, s_.head_dim, s_.ff, s_.context, s_.experts, s_.experts_used,
                s_.window, s_.window_period, s_.shared_kv, s_.variant};
    }
    bool is_gemma4(const char * variant) const { return s_.arch == "gemma4" && s_.variant == variant; }
    bool has_experts() const { return family_.experts || is_gemma4("26b-a4b"); }

    // GPT-2's byte alphabet: printable bytes map to themselves, the others to code points from 256 on.
    static std::vector<std::string> byte_alphabet() {
        const auto utf8 = [](int c) {
            std::string t;
            if (c < 0x80) t += char(c);
            else t += char(0xC0 | c >> 6), t += char(0x80 | (c & 63));
            return t;
        };
        std::vector<std::string> out;
        int extra = 0;
        for (int b = 0; b < 256; ++b) {
            const bool printable = (b >= 33 && b < 127) || (b >= 161 && b < 173) || b >= 174;
            out.push_back(utf8(printable ? b : 256 + extra++));
        }
        return out;
    }

    // Takes over the file's whole header; metadata() then replaces what is not the vocabulary's.
    void copy_vocabulary() {
        const std::unique_ptr<gguf_context, decltype(&gguf_free)> from(
            gguf_init_from_file(s_.tokenizer.c_str(), {true, nullptr}), gguf_free);
        if (!from) throw std::runtime_error("could not read " + s_.tokenizer);
        gguf_set_kv(g_, from.get());
        s_.vocab = int(gguf_get_arr_n(g_, gguf_find_key(g_, "tokenizer.ggml.tokens")));
    }

    void vocabulary() {
        std::vector<std::string> tokens{"<|eos|>", "<|bos|>"};
        for (auto & t : byte_alphabet()) tokens.push_back(t);
        while (int(tokens.size()) < s_.vocab) tokens.push_back("<filler" + std::to_string(tokens.size()) + ">");
        std::vector<const char *> c;
        for (auto & t : tokens) c.push_back(t.c_str());
        std::vector<int32_t> kinds(tokens.size(), 1);  // normal
        kinds[0] = kinds[1] = 3;                       // control
        gguf_set_val_str(g_, "tokenizer.ggml.model", "gpt2");
        gguf_set_val_str(g_, "tokenizer.ggml.pre", "gpt-2");
        gguf_set_arr_str(g_, "tokenizer.ggml.tokens", c.data(), c.size());
        gguf_set_arr_data(g_, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, kinds.data(), kinds.size());
        const char * merges[] = {"a b"};
        gguf_set_arr_str(g_, "tokenizer.ggml.merges", merges, 1);
        gguf_set_val_u32(g_, "tokenizer.ggml.bos_token_id", 1);
        gguf_set_val_u32(g_, "tokenizer.ggml.eos_token_id", 0);
        gguf_set_val_bool(g_, "tokenizer.ggml.add_bos_token", true);
    }

    // WordPiece over single characters: a leading block character (U+2581) marks those that begin a word.
    void bert_vocabulary() {
        std::vector<std::string> tokens{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
        for (char c = '!'; c <= '~'; ++c) {
            if (c >= 'A' && c <= 'Z') continue;  // the tokeniser lowercases
            tokens.push_back(std::string("\u2581") + c);
            tokens.push_back(std::string(1, c));
        }
        while (int(tokens.size()) < s_.vocab) tokens.push_back("[unused" + std::to_string(tokens.size()) + "]");
        std::vector<const char *> c;
        for (auto & t : tokens) c.push_back(t.c_str());
        std::vector<int32_t> kinds(tokens.size(), 1);  // normal
        std::fill_n(kinds.begin(), 5, 3);              // control
        gguf_set_val_str(g_, "tokenizer.ggml.model", "bert");
        gguf_set_arr_str(g_, "tokenizer.ggml.tokens", c.data(), c.size());
        gguf_set_arr_data(g_, "tokenizer.ggml.token_type", GGUF_TYPE_INT32, kinds.data(), kinds.size());
        const std::map<const char *, uint32_t> ids{{"padding", 0}, {"unknown", 1},   {"cls", 2},
                                                   {"bos", 2},     {"seperator", 3}, {"mask", 4}};
        for (auto & [name, id] : ids) {
            gguf_set_val_u32(g_, ("tokenizer.ggml." + std::string(name) + "_token_id").c_str(), id);
        }
    }

    // Random values of the given spread around `mean`, in `type` (f16 if the rows do not divide into its blocks).
    void add(const std::string & name, std::vector<int64_t> shape, ggml_type type, float spread, float mean = 0) {
        if (shape[0] % ggml_blck_size(type) != 0) type = GGML_TYPE_F16;
        ggml_tensor * t = ggml_new_tensor(ctx_, type, int(shape.size()), shape.data());
        ggml_set_name(t, name.c_str());
        const int64_t rows = ggml_nrows(t), n = shape[0];
        auto & data = data_.emplace_back(std::make_unique<std::vector<uint8_t>>(ggml_nbytes(t)));
        const auto fill = [&, seed = seed_](int64_t from, int64_t to) {
            std::vector<float> row(static_cast<size_t>(n));
            // Types of one or two bits require the importance of columns.
            const std::vector<float> alike(ggml_quantize_requires_imatrix(type) ? size_t(n) : 0, 1.0f);
            for (int64_t r = from; r < to; ++r) {
                std::minstd_rand rng(uint32_t(seed * 7919u + uint64_t(r) * 104729u + 1u));
                for (float & v : row) {  // sum of uniforms: near normal, and equal on every platform
                    float u = 0;
                    for (int i = 0; i < 4; ++i) u += float(rng()) / 2147483646.0f - 0.5f;
                    v = mean + spread * 1.732f * u;
                }
                ggml_quantize_chunk(type, row.data(), data->data() + size_t(r) * ggml_row_size(type, n), 0, 1, n,
                                    alike.empty() ? nullptr : alike.data());
            }
        };
        seed_ += 1;
        std::vector<std::thread> threads;
        const int64_t count = std::max(2u, std::thread::hardware_concurrency());
        for (int64_t i = 0; i < count; ++i) threads.emplace_back(fill, rows * i / count, rows * (i + 1) / count);
        for (auto & thread : threads) thread.join();
        gguf_add_tensor(g_, t);
        gguf_set_tensor_data(g_, name.c_str(), data->data());
    }

    void tensors() {
        ggml_quantize_init(type_), ggml_quantize_init(expert_type_);
        seed_ = uint64_t(s_.seed) * 1000;
        const int64_t d = s_.embd, v = s_.vocab;
        // Gemma 4 caps its logits at 30: they must stay well below that at any width, or all would be alike.
        add("token_embd.weight", {d, v}, type_, s_.arch == "gemma4" ? 16 / std::sqrt(float(d)) : 1.0f);
        if (s_.endless) std::memset(data_.back()->data(), 0, data_.back()->size() / size_t(v));  // row 0: <|eos|>
        norm("output_norm.weight", d);
        if (s_.untied || family_.needs_output) matrix("output.weight", d, v);
        if (s_.rope == "llama3") factors("rope_freqs.weight", 1);
        if (s_.rope == "longrope") factors("rope_factors_long.weight", 4), factors("rope_factors_short.weight", 1);
        for (int il = 0; il < s_.layers; ++il) {
            const std::string p = "blk." + std::to_string(il) + ".";
            const mkgguf::Layer layer = mkgguf::layer_of(s_.arch, numbers(), il);
            attention(p, layer);
            const bool dense = !family_.experts || (family_.shared_experts && il == 0);
            if (dense) feed_forward(p, layer.ff);
            else experts(p);
            if (family_.shared_experts && il == s_.layers - 1) draft(p);
            if (s_.arch == "gemma4") gemma4(p);
        }
        if (s_.arch == "gemma4") gemma4_inputs();
    }

    static float spread(int64_t in) { return 1.0f / std::sqrt(float(in)); }
    void norm(const std::string & name, int64_t n, float mean = 1) { add(name, {n}, GGML_TYPE_F32, 0.1f, mean); }
    void matrix(const std::string & name, int64_t in, int64_t out, float times = 1) {
        add(name, {in, out}, type_, times * spread(in));
    }
    void bias(const std::string & name, std::vector<int64_t> shape) { add(name, shape, GGML_TYPE_F32, 0.5f); }

    // In three steps: 1, 3 and 8 times `most`.
    void factors(const char * name, float most) {
        const int n = s_.head_dim / family_.rotated / 2;
        std::vector<float> values;
        for (int i = 0; i < n; ++i) values.push_back(most * (i < n / 3 ? 1.0f : i < 2 * n / 3 ? 3.0f : 8.0f));
        add_f32(name, values);
    }

    void add_f32(const char * name, const std::vector<float> & values) {
        ggml_tensor * t = ggml_new_tensor_1d(ctx_, GGML_TYPE_F32, int64_t(values.size()));
        ggml_set_name(t, name);
        auto & data = data_.emplace_back(std::make_unique<std::vector<uint8_t>>(ggml_nbytes(t)));
        std::memcpy(data->data(), values.data(), data->size());
        gguf_add_tensor(g_, t);
        gguf_set_tensor_data(g_, name, data->data());
    }

    void attention(const std::string & p, const mkgguf::Layer & layer) {
        const int64_t d = s_.embd, head = layer.head_dim, q = s_.heads * head, kv = layer.kv_heads * head;
        if (family_.pre_norms) norm(p + "attn_norm.weight", d);
        if (family_.fused_qkv) {
            matrix(p + "attn_qkv.weight", d, q + 2 * kv, 1.5f);
        } else {
            matrix(p + "attn_q.weight", d, q, 2);
            if (layer.keys) matrix(p + "attn_k.weight", d, kv, 2);
            if (layer.values) matrix(p + "attn_v.weight", d, kv);
        }
        matrix(p + "attn_output.weight", q, d);
        if (family_.qkv_bias) {
            bias(p + "attn_q.bias", {q}), bias(p + "attn_k.bias", {kv}), bias(p + "attn_v.bias", {kv});
        }
        if (family_.output_bias) bias(p + "attn_output.bias", {d});
        if (family_.head_norms || family_.whole_norms) {
            norm(p + "attn_q_norm.weight", family_.whole_norms ? q : head, head_norm());
            if (layer.keys) norm(p + "attn_k_norm.weight", family_.whole_norms ? kv : head, head_norm());
        }
        if (family_.sinks) bias(p + "attn_sinks.weight", {s_.heads});
        if (family_.post_norms || family_.norm_behind_attention) norm(p + "post_attention_norm.weight", d);
    }

    // Gemma 4 does not scale its scores, so its norms must keep them small.
    float head_norm() const { return s_.arch == "gemma4" ? 0.5f : 1.5f; }

    void feed_forward(const std::string & p, int64_t ff) {
        const int64_t d = s_.embd;
        if (family_.pre_norms && !family_.norm_behind_attention) norm(p + "ffn_norm.weight", d);
        if (!family_.fused_gate_up) matrix(p + "ffn_gate.weight", d, ff);
        matrix(p + "ffn_up.weight", d, family_.fused_gate_up ? 2 * ff : ff);
        matrix(p + "ffn_down.weight", ff, d);
        if (family_.post_norms) norm(p + "post_ffw_norm.weight", d);
    }

    void experts(const std::string & p) {
        const int64_t d = s_.embd, ff = s_.expert_ff, n = s_.experts;
        if (!family_.norm_behind_attention) norm(p + "ffn_norm.weight", d);
        add(p + "ffn_gate_inp.weight", {d, n}, GGML_TYPE_F32, 2 * spread(d));
        add(p + "ffn_gate_exps.weight", {d, ff, n}, expert_type_, spread(d));
        add(p + "ffn_up_exps.weight", {d, ff, n}, expert_type_, spread(d));
        add(p + "ffn_down_exps.weight", {ff, d, n}, expert_type_, spread(ff));
        if (family_.shared_experts) {
            bias(p + "exp_probs_b.bias", {n});
            matrix(p + "ffn_gate_shexp.weight", d, 2 * ff), matrix(p + "ffn_up_shexp.weight", d, 2 * ff);
            matrix(p + "ffn_down_shexp.weight", 2 * ff, d);
        }
        if (!family_.expert_bias) return;
        bias(p + "ffn_gate_inp.bias", {n});
        bias(p + "ffn_gate_exps.bias", {ff, n}), bias(p + "ffn_up_exps.bias", {ff, n});
        bias(p + "ffn_down_exps.bias", {d, n});
    }

    // The weights of a draft layer.
    void draft(const std::string & p) {
        matrix(p + "nextn.eh_proj.weight", 2 * s_.embd, s_.embd);
        norm(p + "nextn.enorm.weight", s_.embd), norm(p + "nextn.hnorm.weight", s_.embd);
    }

    // The additional weights of Gemma 4.
    void gemma4(const std::string & p) {
        const int64_t d = s_.embd, own = mkgguf::kPerLayerEmbd, ff = s_.expert_ff, n = s_.experts;
        add(p + "layer_output_scale.weight", {1}, GGML_TYPE_F32, 0.1f, 0.8f);
        if (is_gemma4("e2b")) {
            matrix(p + "inp_gate.weight", d, own), matrix(p + "proj.weight", own, d), norm(p + "post_norm.weight", d);
        }
        if (!is_gemma4("26b-a4b")) return;
        add(p + "ffn_gate_inp.weight", {d, n}, GGML_TYPE_F32, 2 * spread(d) * std::sqrt(float(d)));
        norm(p + "ffn_gate_inp.scale", d);
        add(p + "ffn_gate_up_exps.weight", {d, 2 * ff, n}, expert_type_, spread(d));
        add(p + "ffn_down_exps.weight", {ff, d, n}, expert_type_, spread(ff));
        norm(p + "ffn_down_exps.scale", n);
        for (const char * name : {"post_ffw_norm_1", "pre_ffw_norm_2", "post_ffw_norm_2"}) {
            norm(p + name + ".weight", d);
        }
    }

    void gemma4_inputs() {
        // Layers without a window rotate a quarter of the pairs.
        const int pairs = s_.head_dim / 2;
        std::vector<float> slower(static_cast<size_t>(pairs), 1e30f);
        std::fill_n(slower.begin(), pairs / 4, 1.0f);
        add_f32("rope_freqs.weight", slower);
        if (!is_gemma4("e2b")) return;
        const int64_t own = mkgguf::kPerLayerEmbd, all = own * s_.layers;
        add("per_layer_token_embd.weight", {all, s_.vocab}, type_, 1.0f);
        matrix("per_layer_model_proj.weight", s_.embd, all);
        norm("per_layer_proj_norm.weight", own);
    }

    void bert_tensors() {
        ggml_quantize_init(type_);
        seed_ = uint64_t(s_.seed) * 1000;
        const int64_t d = s_.embd, ff = s_.ff;
        const auto norm = [&](const std::string & name) {
            add(name + ".weight", {d}, GGML_TYPE_F32, 0.1f, 1.0f);
            add(name + ".bias", {d}, GGML_TYPE_F32, 0.1f);
        };
        const auto linear = [&](const std::string & name, int64_t in, int64_t out) {
            add(name + ".weight", {in, out}, type_, 1.0f / std::sqrt(float(in)));
            add(name + ".bias", {out}, GGML_TYPE_F32, 0.1f);
        };
        add("token_embd.weight", {d, s_.vocab}, type_, 1.0f);
        add("position_embd.weight", {d, s_.context}, GGML_TYPE_F32, 0.5f);
        add("token_types.weight", {d, 2}, GGML_TYPE_F32, 0.1f);
        norm("token_embd_norm");
        for (int il = 0; il < s_.layers; ++il) {
            const std::string p = "blk." + std::to_string(il) + ".";
            for (const char * name : {"attn_q", "attn_k", "attn_v", "attn_output"}) linear(p + name, d, d);
            norm(p + "attn_output_norm");
            linear(p + "ffn_up", d, ff);
            linear(p + "ffn_down", ff, d);
            norm(p + "layer_output_norm");
        }
        if (s_.pooling == 4) linear("cls", d, d), linear("cls.output", d, 1);
    }

    Spec s_;
    mkgguf::Family family_;
    ggml_type type_, expert_type_;
    gguf_context * g_;
    ggml_context * ctx_;
    uint64_t seed_ = 1;
    std::vector<std::unique_ptr<std::vector<uint8_t>>> data_;
};

}  // namespace

int main(int argc, char ** argv) {
    try {
        Writer(parse(argc, argv)).write();
        return 0;
    } catch (const std::exception & e) {
        std::fprintf(stderr, "kvasir-mkgguf: %s\n", e.what());
        return 1;
    }
}
