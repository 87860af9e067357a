// LoRA adapters: compared with weights that they are merged into, through every kind of pass; KV compatibility; refused
// files. `npm run parity` compares with libllama's adapters.
#include "engine/gguf/adapter.h"

#include <cstring>

#include "engine/error.h"
#include "tests/edited_model.h"
#include "tests/far_device.h"
#include "tests/fixtures.h"

using namespace kvasir;
using test::append;
using test::apart;
using test::edited_model;
using test::encode;
using test::error_code;
using test::ids;
using test::kFull;
using test::kNone;
using test::random_adapter;
using test::Result;

namespace {

std::string model_file(const std::string & arch, const std::string & flags = "") {
    const std::string name = "adapted-" + arch + (flags.empty() ? "" : "-more");
    return test::random_model(name, test::tiny_shape(arch) + "--type f32" + flags);
}

std::shared_ptr<Model> load(const std::string & path, const std::string & adapter = "",
                            const std::string & device = "cpu") {
    return std::make_shared<Model>(path, ModelOptions{2, device, KvDtype::f16, adapter}, nullptr);
}

// A copy of the model's file with the adapter's products added to its f32 weights.
std::string merged(const std::string & model, const std::string & adapter, const std::string & name) {
    const GgufFile lora(adapter);
    const auto alpha = float(lora.number("adapter.lora.alpha").value());
    return edited_model(model, name, [&](gguf_context *, ggml_context * tensors) {
        for (const GgufFile::Tensor & a : lora.tensors()) {
            if (!a.name.ends_with(".lora_a")) continue;
            const std::string weight = a.name.substr(0, a.name.rfind('.'));
            const GgufFile::Tensor & b = *lora.find(weight + ".lora_b");
            const auto *pa = reinterpret_cast<const float *>(a.data), *pb = reinterpret_cast<const float *>(b.data);
            ggml_tensor * w = ggml_get_tensor(tensors, weight.c_str());
            const int64_t rank = b.ne[0], n = w->ne[0];
            const bool looked_up = weight == "token_embd.weight";
            for (int64_t i = 0; i < ggml_nelements(w); ++i) {
                double sum = 0;
                for (int64_t r = 0; r < rank; ++r) {
                    sum += looked_up ? double(pa[i / n * rank + r]) * pb[i % n * rank + r]
                                     : double(pb[i / n * rank + r]) * pa[r * n + i % n];
                }
                static_cast<float *>(w->data)[i] += float(alpha / float(rank) * sum);
            }
        }
    });
}

// A prompt of two chunks and a question.
std::vector<Segment> prompt(const std::shared_ptr<Model> & m) {
    return {{{1}, nullptr}, {{}, encode(m, ids(130))}, {{}, encode(m, ids(90, 2))}, {ids(20, 3), nullptr}};
}

StrategySpec deviation(double ratio) { return {.name = "deviation", .check_layers = {1}, .ratios = {ratio}}; }

using Edit = std::function<void(gguf_context *, ggml_context *)>;

// The error when the edited adapter is loaded for a model.
Error refusal(const std::string & model, const std::string & adapter, const Edit & edit) {
    const std::string path = edited_model(adapter, "edited-adapter.gguf", edit);
    try {
        load(model, path);
    } catch (const Error & e) {
        return e;
    }
    return Error("", "");
}

// An adapter for a model, with these tensors, all zero.
struct Shape {
    std::string name;
    std::vector<int64_t> ne;
};
std::string handmade(const std::string & model, const std::vector<Shape> & tensors) {
    const ContextPtr c(ggml_init({size_t(1) << 20, nullptr, false}));
    const std::unique_ptr<gguf_context, Deleter<gguf_free>> g(gguf_init_empty());
    gguf_set_val_str(g.get(), "general.type", "adapter");
    gguf_set_val_str(g.get(), "adapter.type", "lora");
    gguf_set_val_str(g.get(), "general.architecture",
                     GgufFile(model).string("general.architecture").value_or("").c_str());
    for (const Shape & shape : tensors) {
        ggml_tensor * t = ggml_new_tensor(c.get(), GGML_TYPE_F32, int(shape.ne.size()), shape.ne.data());
        std::memset(t->data, 0, ggml_nbytes(t));
        gguf_add_tensor(g.get(), ggml_set_name(t, shape.name.c_str()));
    }
    std::string path = test::scratch("handmade.gguf");
    gguf_write_to_file(g.get(), path.c_str(), false);
    return path;
}

bool names(const Error & e, const std::string & what) { return std::string(e.what()).find(what) != std::string::npos; }

}  // namespace

TEST(an_adapter_computes_the_same_as_merged_weights) {
    for (const std::string & arch : architecture_names()) {
        const std::string model = model_file(arch, " --untied"), adapter = random_adapter(model, arch + "-lora");
        const auto with = load(model, adapter), one = load(merged(model, adapter, arch + "-merged.gguf"));
        const auto prompt_with = prompt(with), prompt_one = prompt(one);
        for (const StrategySpec & strategy : {kFull, deviation(0.2)}) {
            const auto a = append(with, prompt_with, strategy).logits, b = append(one, prompt_one, strategy).logits;
            CHECK(apart(a, b) < 2e-3);
        }
        Session step(with, 400), merged_step(one, 400);
        for (Session * s : {&step, &merged_step}) s->append({{ids(70), nullptr}}, kFull, nullptr, nullptr);
        CHECK(step.generate(8, {}, nullptr, nullptr).tokens == merged_step.generate(8, {}, nullptr, nullptr).tokens);
        CHECK(apart(step.logits(), merged_step.logits()) < 2e-3);
    }
}

TEST(each_matrix_of_an_adapter_affects_the_result) {
    for (const std::string & arch : architecture_names()) {
        const std::string model = model_file(arch, " --untied");
        const auto before = append(load(model), {{ids(40), nullptr}}, kFull).logits;
        const GgufFile file(model);
        for (const GgufFile::Tensor & t : file.tensors()) {
            const bool matrix = t.name.ends_with(".weight") && t.ne[1] > 1 && t.ne[2] == 1;
            if (!matrix || t.name.starts_with("per_layer")) continue;
            if (t.name.starts_with("blk.") && !t.name.starts_with("blk.1.")) continue;
            const auto m = load(model, random_adapter(model, "one", "--only " + t.name));
            CHECK(apart(append(m, {{ids(40), nullptr}}, kFull).logits, before) > 1e-3);
        }
    }
}

TEST(blending_with_an_adapter_is_as_exact_as_without) {
    for (const char * arch : {"llama", "phi3", "qwen3moe"}) {
        const std::string model = model_file(arch);
        for (const std::string type : {"f32", "f16", "q8_0"}) {
            const auto m = load(model, random_adapter(model, "blended", "--rank 32 --type " + type));
            const std::vector<Segment> s = prompt(m);
            CHECK(append(m, s, deviation(1)).logits == append(m, s, kFull).logits);
            const std::vector<Segment> one{s[0], s[1], s[3]};
            // With block rounding, a change in the last bits can move the adapter's input by a whole step.
            const double bound = type == "q8_0" ? 2e-2 : 3e-3;
            CHECK(apart(append(m, one, kNone).logits, append(m, one, kFull).logits) < bound);
        }
    }
}

TEST(decoding_with_an_adapter_continues_its_prefill) {
    for (const std::string & arch : architecture_names()) {
        const std::string model = model_file(arch);
        const auto m = load(model, random_adapter(model, "decoded"));
        Session step(m, 600), whole(m, 600);
        std::vector<int32_t> all = ids(250);
        step.append({{all, nullptr}}, kFull, nullptr, nullptr);
        const Generated g = step.generate(12, {}, nullptr, nullptr);
        if (g.tokens.empty()) continue;
        all.insert(all.end(), g.tokens.begin(), g.tokens.end());
        whole.append({{all, nullptr}}, kFull, nullptr, nullptr);
        CHECK(apart(step.logits(), whole.logits()) < 5e-3);
    }
}

TEST(without_alpha_an_adapter_is_added_unscaled) {
    const std::string model = model_file("llama");
    const std::string four = random_adapter(model, "four", "--rank 4 --alpha 4");
    const std::string none = edited_model(four, "no-alpha.gguf", [](gguf_context * g, ggml_context *) {
        gguf_remove_key(g, "adapter.lora.alpha");
    });
    const std::vector<Segment> s{{ids(60), nullptr}};
    CHECK(append(load(model, four), s, kFull).logits == append(load(model, none), s, kFull).logits);
}

#ifndef _WIN32
TEST(an_adapter_goes_to_the_device_of_each_layer) {
    const std::string device = test::far_device();
    for (const char * arch : {"llama", "phi3"}) {
        const std::string model = model_file(arch, " --untied"), adapter = random_adapter(model, "far");
        const auto host = load(model, adapter), far = load(model, adapter, device);
        CHECK(&far->weights().device(0) == &far->weights().head_device());
        for (const StrategySpec & strategy : {kFull, deviation(0.2)}) {
            CHECK(apart(append(far, prompt(far), strategy).logits, append(host, prompt(host), strategy).logits) < 5e-3);
        }
    }
}
#endif

TEST(kv_with_an_adapter_is_neither_the_models_nor_another_adapters) {
    const std::string model = model_file("llama");
    const std::string a = random_adapter(model, "a"), b = random_adapter(model, "b", "--seed 2"),
                      stronger = random_adapter(model, "stronger", "--alpha 32");
    const std::vector<std::shared_ptr<Model>> all{load(model), load(model, a), load(model, b), load(model, stronger)};
    const std::string copy = edited_model(a, "copy.gguf", [](gguf_context *, ggml_context *) {});
    CHECK(load(model, copy)->fingerprint() == all[1]->fingerprint());  // only the file's contents matter
    for (const auto & m : all) {
        const auto chunk = encode(m, ids(30));
        for (const auto & other : all) {
            if (other == m) continue;
            CHECK(other->fingerprint() != m->fingerprint());
            CHECK(other->kv_pool().root() != m->kv_pool().root());
            Session session(other, 128);
            CHECK_EQ(error_code([&] {
                         session.append({{{1}, nullptr}, {{}, chunk}, {{5}, nullptr}}, kNone, nullptr, nullptr);
                     }),
                     std::string("CHUNK_MISMATCH"));
        }
    }
}

TEST(a_file_that_is_not_an_adapter_is_refused) {
    const std::string model = model_file("llama"), adapter = random_adapter(model, "plain");
    CHECK_EQ(error_code([&] { load(model, model); }), std::string("ADAPTER_INVALID"));
    CHECK_EQ(error_code([&] { load(model, test::scratch("absent.gguf")); }), std::string("MODEL_NOT_FOUND"));
    const std::string cut = test::scratch("cut.gguf");
    std::FILE *from = std::fopen(adapter.c_str(), "rb"), *to = std::fopen(cut.c_str(), "wb");
    std::vector<char> half(20000);
    CHECK_EQ(std::fread(half.data(), 1, half.size(), from), half.size());
    std::fwrite(half.data(), 1, half.size(), to), std::fclose(from), std::fclose(to);
    CHECK_EQ(error_code([&] { load(model, cut); }), std::string("ADAPTER_INVALID"));
    CHECK_EQ(error_code([&] { load(adapter); }), std::string("MODEL_INVALID"));
}

TEST(a_header_of_another_kind_is_refused) {
    const std::string model = model_file("llama"), adapter = random_adapter(model, "header");
    const auto with = [&](const Edit & edit) { return refusal(model, adapter, edit); };
    CHECK_EQ(with([](gguf_context * g, ggml_context *) { gguf_set_val_str(g, "general.architecture", "qwen2"); }).code,
             std::string("ADAPTER_MISMATCH"));
    const Error kind =
        with([](gguf_context * g, ggml_context *) { gguf_set_val_str(g, "adapter.type", "sorcery"); });
    CHECK(kind.code == "ADAPTER_UNSUPPORTED" && names(kind, "sorcery"));
    const Error key = with([](gguf_context * g, ggml_context *) {
        const uint32_t tokens[] = {5};
        gguf_set_arr_data(g, "adapter.alora.invocation_tokens", GGUF_TYPE_UINT32, tokens, 1);
    });
    CHECK(key.code == "ADAPTER_UNSUPPORTED" && names(key, "adapter.alora.invocation_tokens"));
    for (const float alpha : {NAN, INFINITY, 1e20f}) {
        CHECK_EQ(with([&](gguf_context * g, ggml_context *) { gguf_set_val_f32(g, "adapter.lora.alpha", alpha); }).code,
                 std::string("ADAPTER_INVALID"));
    }
}

TEST(pairs_that_do_not_fit_are_refused_by_name) {
    const std::string model = model_file("llama"), other = "--arch llama --vocab 600 --type f32 ";
    const std::string wider = test::random_model("wider", other + "--ff 768 --layers 4"),
                      deeper = test::random_model("deeper", other + "--layers 5");
    const auto loading = [&](const std::string & of, const std::string & made_for, const std::string & flags) {
        return refusal(of, random_adapter(made_for, "misfit", flags), [](gguf_context *, ggml_context *) {});
    };
    const Error sizes = loading(model, wider, "--only ffn_down"), layers = loading(model, deeper, "--only blk.4");
    CHECK(sizes.code == "ADAPTER_MISMATCH" && names(sizes, "ffn_down.weight"));
    CHECK(layers.code == "ADAPTER_MISMATCH" && names(layers, "blk.4."));

}

TEST(adapters_that_would_be_ignored_in_part_are_refused_by_name) {
    const std::string model = model_file("llama"), experts = model_file("qwen3moe");
    // The error code, and whether the message names the cause.
    const auto refused = [&](const std::string & of, const std::string & named, const std::vector<Shape> & tensors) {
        try {
            load(of, handmade(of, tensors));
        } catch (const Error & e) {
            return names(e, named) ? e.code : "unnamed";
        }
        return std::string("not refused");
    };
    const std::string q = "blk.0.attn_q.weight", up = "blk.1.ffn_up_exps.weight", norm = "blk.0.attn_norm.weight",
                      embedding = "token_embd.weight", a = ".lora_a", b = ".lora_b";
    const std::string invalid = "ADAPTER_INVALID", unsupported = "ADAPTER_UNSUPPORTED";
    CHECK_EQ(refused(model, q, {{q + a, {256, 4}}, {q + b, {4, 256}}}), std::string("not refused"));
    CHECK_EQ(refused(model, q, {{q + a, {256, 4}}, {q + b, {8, 256}}}), invalid);
    CHECK_EQ(refused(model, q, {{q + a, {256, 4, 2}}, {q + b, {4, 256, 2}}}), invalid);
    CHECK_EQ(refused(model, q, {{q + a, {256, 4}}}), invalid);
    CHECK_EQ(refused(model, "no weights", {}), invalid);
    CHECK_EQ(refused(model, "blk.*.attn_norm.weight", {{norm, {256}}}), unsupported);
    CHECK_EQ(refused(model, "blk.*.attn_norm.weight", {{norm + a, {256, 4}}, {norm + b, {4, 1}}}), unsupported);
    CHECK_EQ(refused(experts, "blk.*.ffn_up_exps.weight", {{up + a, {256, 4, 8}}, {up + b, {4, 128, 8}}}), unsupported);
    const std::string draft = "blk.4.attn_q.weight";  // of a layer that this engine skips
    CHECK_EQ(refused(model_file("glm4moe"), draft, {{draft + a, {256, 4}}, {draft + b, {4, 256}}}), unsupported);
    CHECK_EQ(refused(model, embedding, {{embedding + a, {4, 600}}, {embedding + b, {4, 256}}}), unsupported);
}
