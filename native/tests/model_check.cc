// Models that other programs run and we cannot, that have impossible headers, or whose weights are damaged. Each gets a
// specific error, from its header alone if possible, and never runs with a part of it left out.
#include "engine/gguf/model_check.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "engine/error.h"
#include "engine/session.h"
#include "tests/edited_model.h"
#include "tests/fixtures.h"

using namespace kvasir;
using test::add_tensor;
using test::edited_model;
using test::error_code;

namespace {

std::string plain(const std::string & arch = "llama", const std::string & type = "f16") {
    const std::string flags = "--layers 2 --vocab 600 --untied --type " + type;
    return test::random_model("check-" + arch + "-" + type, "--arch " + arch + " " + flags);
}

struct Told {
    std::string code, what;
    bool names(const std::string & part) const { return what.find(part) != std::string::npos; }
};

// The error of check_model(), which must equal the error of loading the model.
Told told_of(const std::string & path) {
    Told checked, loaded;
    try {
        check_model(GgufFile(path));
    } catch (const Error & e) {
        checked = {e.code, e.what()};
    }
    try {
        const Model model(path, {1, "cpu"}, nullptr);
    } catch (const Error & e) {
        loaded = {e.code, e.what()};
    }
    CHECK_EQ(checked.code, loaded.code);
    CHECK_EQ(checked.what, loaded.what);
    return checked;
}

Told told_with_tensor(const std::string & arch, const char * name, int64_t n) {
    return told_of(edited_model(plain(arch), "with-tensor", [&](auto * h, auto * t) { add_tensor(h, t, name, n); }));
}

template <typename F> Told told_with(F edit) {
    return told_of(edited_model(plain(), "with-key", [&](gguf_context * h, ggml_context *) { edit(h); }));
}

}  // namespace

TEST(plain_models_of_every_family_pass_the_check) {
    for (const std::string & arch : architecture_names()) CHECK_EQ(told_of(plain(arch)).code, std::string());
    CHECK_EQ(told_of(test::random_model("check-llama3", "--layers 2 --vocab 300 --rope llama3")).code, std::string());
}

TEST(tensors_that_a_family_does_not_use_are_an_error_that_names_them) {
    const struct {
        const char *arch, *tensor, *named;
    } cases[] = {
        {"qwen2", "output.bias", "output.bias"},
        {"llama", "blk.1.ffn_gate.bias", "blk.*.ffn_gate.bias"},
        {"llama", "blk.0.attn_q.scale", "blk.*.attn_q.scale"},
        {"llama", "blk.0.ffn_down.scale", "blk.*.ffn_down.scale"},
        {"llama", "blk.0.attn_norm.bias", "blk.*.attn_norm.bias"},
        {"llama", "blk.0.attn_sub_norm.weight", "blk.*.attn_sub_norm.weight"},
        {"qwen3", "blk.0.post_attention_norm.weight", "blk.*.post_attention_norm.weight"},
        {"llama", "blk.0.attn_q_norm.weight", "blk.*.attn_q_norm.weight"},
        {"qwen2", "blk.0.attn_k_norm.weight", "blk.*.attn_k_norm.weight"},
        {"qwen2", "rope_freqs.weight", "rope_freqs.weight"},
        {"qwen3", "rope_freqs.weight", "rope_freqs.weight"},
        {"llama", "blk.2.attn_norm.weight", "blk.*.attn_norm.weight"},  // a layer that the model does not have
    };
    for (const auto & c : cases) {
        const Told told = told_with_tensor(c.arch, c.tensor, 32);
        CHECK_EQ(told.code, std::string("MODEL_UNSUPPORTED"));
        CHECK(told.names(c.named));
    }
}

TEST(unknown_keys_are_an_error_unless_they_have_no_effect) {
    CHECK_EQ(told_with([](auto * h) { gguf_set_val_bool(h, "llama.attention.causal", true); }).code, std::string());
    CHECK_EQ(told_with([](auto * h) { gguf_set_val_u32(h, "llama.expert_count", 0); }).code, std::string());
    CHECK_EQ(told_with([](auto * h) { gguf_set_val_u32(h, "llama.vocab_size", 600); }).code, std::string());
    CHECK_EQ(told_with([](auto * h) { gguf_set_val_u32(h, "qwen2.expert_count", 8); }).code, std::string());
    const Told causal = told_with([](auto * h) { gguf_set_val_bool(h, "llama.attention.causal", false); });
    CHECK_EQ(causal.code, std::string("MODEL_UNSUPPORTED"));
    CHECK(causal.names("attention.causal"));
    for (const char * key : {"logit_scale", "attention.scale", "residual_scale", "final_logit_softcapping"}) {
        const Told told = told_with([&, name = "llama." + std::string(key)](auto * h) {
            gguf_set_val_f32(h, name.c_str(), 0.5f);
        });
        CHECK_EQ(told.code, std::string("MODEL_UNSUPPORTED"));
        CHECK(told.names(key));
    }
    CHECK_EQ(told_with([](auto * h) { gguf_set_val_u32(h, "llama.expert_count", 8); }).code,
             std::string("MODEL_UNSUPPORTED"));
}

TEST(weights_of_an_unsupported_type_are_reported_by_type) {
    const Told told = told_of(edited_model(plain("llama", "f32"), "integers", [](gguf_context * h, ggml_context *) {
        gguf_set_tensor_type(h, "blk.0.attn_q.weight", GGML_TYPE_I32);
    }));
    CHECK_EQ(told.code, std::string("MODEL_UNSUPPORTED"));
    CHECK(told.names("i32"));
}

TEST(a_broken_header_of_each_family_is_reported_with_its_cause) {
    for (const std::string & arch : architecture_names()) {
        const auto with = [&](const char * key, uint32_t value) {
            return told_of(edited_model(plain(arch), "broken", [&](gguf_context * h, ggml_context *) {
                gguf_set_val_u32(h, (arch + "." + key).c_str(), value);
            }));
        };
        CHECK_EQ(with("attention.head_count", 1u << 30).code, std::string("MODEL_INVALID"));
        CHECK(with("attention.head_count", 1u << 30).names("head_count"));
        CHECK_EQ(with("embedding_length", 4096).code, std::string("MODEL_INVALID"));
        const Told more = with("block_count", 9);  // layers that the file does not have
        CHECK(more.names("lacks the tensor") || more.names("a list of 2") || more.names("nextn"));
        CHECK_EQ(with("attention.something_new", 7).code, std::string("MODEL_UNSUPPORTED"));
        CHECK(with("attention.something_new", 7).names("something_new"));
    }
}

TEST(a_fused_tensor_has_the_rows_of_all_its_weights) {
    const Told told = told_of(edited_model(plain("phi3"), "fewer-rows", [](gguf_context * h, ggml_context *) {
        gguf_set_val_u32(h, "phi3.attention.head_count_kv", 4);
    }));
    CHECK_EQ(told.code, std::string("MODEL_INVALID"));
    CHECK(told.names("attn_qkv"));
}

TEST(windows_are_an_error_in_families_that_have_none) {
    const auto with = [](uint32_t tokens) {
        return told_with([&](auto * h) { gguf_set_val_u32(h, "llama.attention.sliding_window", tokens); });
    };
    CHECK_EQ(with(0).code, std::string());
    CHECK_EQ(with(1 << 20).code, std::string());  // longer than the context
    CHECK_EQ(with(128).code, std::string("MODEL_UNSUPPORTED"));
}

TEST(every_number_of_a_header_is_checked_for_plausibility) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const struct {
        const char * key;
        std::vector<float> bad, good;
    } reals[] = {
        {"attention.layer_norm_rms_epsilon", {nan, inf, -inf, -1e-5f, 10}, {0, 1e-6f, 1e-5f, 0.1f}},
        {"rope.freq_base", {nan, inf, -inf, -10000, 0}, {10000, 5e6f, 1e9f}},
        {"rope.scaling.factor", {nan, inf, -inf, -2}, {0, 1, 4, 32}},
        {"rope.scale_linear", {nan, inf, -inf, -2}, {0, 1, 4}},
        {"rope.scaling.attn_factor", {nan, inf, -inf, -1, 0}, {1, 0.8f}},
    };
    for (const auto & c : reals) {
        const auto with = [&](float value) {
            return told_with([&](auto * h) { gguf_set_val_f32(h, ("llama." + std::string(c.key)).c_str(), value); });
        };
        for (float value : c.bad) {
            CHECK_EQ(with(value).code, std::string("MODEL_INVALID"));
            CHECK(with(value).names(c.key));
        }
        for (float value : c.good) CHECK_EQ(with(value).code, std::string());
    }
    for (const char * key : {"block_count", "embedding_length", "feed_forward_length", "attention.head_count",
                             "attention.head_count_kv", "attention.key_length", "attention.value_length",
                             "context_length", "rope.dimension_count", "rope.scaling.original_context_length"}) {
        for (uint32_t value : {0u, 7u, 0x7fffffffu, 0xffffffffu}) {
            const std::string name = "llama." + std::string(key);
            const Told told = told_with([&](auto * h) { gguf_set_val_u32(h, name.c_str(), value); });
            const bool plausible = value == 7 && (name.ends_with("context_length"));
            CHECK_EQ(told.code.empty(), plausible);
        }
        CHECK_EQ(told_with([&](auto * h) { gguf_set_val_f32(h, ("llama." + std::string(key)).c_str(), nan); }).code,
                 std::string("MODEL_INVALID"));
    }
}

TEST(rope_factors_are_finite_and_positive) {
    const std::string path = test::random_model("check-llama3", "--layers 2 --vocab 300 --rope llama3");
    for (float value : {-1.0f, 0.0f, INFINITY, NAN}) {
        const Told told = told_of(edited_model(path, "rope-factors", [&](gguf_context *, ggml_context * t) {
            ggml_get_data_f32(ggml_get_tensor(t, "rope_freqs.weight"))[3] = value;
        }));
        CHECK_EQ(told.code, std::string("MODEL_INVALID"));
    }
}

TEST(a_vocabulary_that_lists_a_token_twice_is_an_error) {
    const Told told = told_with([](gguf_context * h) {
        const int64_t id = gguf_find_key(h, "tokenizer.ggml.tokens");
        std::vector<std::string> own;
        for (size_t i = 0; i < gguf_get_arr_n(h, id); ++i) own.push_back(gguf_get_arr_str(h, id, i));
        own[200] = own[100];
        std::vector<const char *> list;
        for (auto & text : own) list.push_back(text.c_str());
        gguf_set_arr_str(h, "tokenizer.ggml.tokens", list.data(), list.size());
    });
    CHECK_EQ(told.code, std::string("MODEL_INVALID"));
    CHECK(told.names("vocabulary"));
}

TEST(a_model_with_non_finite_results_reports_it_and_its_session_is_unchanged) {
    const auto model = [](float value) {
        const std::string path = edited_model(plain(), "nan-" + std::to_string(value), [&](auto *, ggml_context * t) {
            ggml_get_data_f32(ggml_get_tensor(t, "output_norm.weight"))[5] = value;
        });
        return std::make_shared<Model>(path, ModelOptions{1, "cpu"}, nullptr);
    };
    for (float value : {NAN, INFINITY}) {
        Session session(model(value), 256);
        CHECK_EQ(error_code([&] { session.append({{test::ids(20), nullptr}}, test::kFull, nullptr, nullptr); }),
                 std::string("MODEL_NUMBERS"));
        CHECK_EQ(session.length(), 0);
        CHECK(session.logits().empty());
    }
}

TEST(a_chunk_with_non_finite_values_is_an_error) {
    const std::string path = edited_model(plain(), "nan-values", [&](auto *, ggml_context * t) {
        ggml_get_data_f32(ggml_get_tensor(t, "blk.0.attn_norm.weight"))[5] = NAN;
    });
    const auto model = std::make_shared<Model>(path, ModelOptions{1, "cpu"}, nullptr);
    CHECK_EQ(error_code([&] { test::encode(model, test::ids(20)); }), std::string("MODEL_NUMBERS"));
}

TEST(nan_from_one_prompt_does_not_reach_other_prompts) {
    // One token's embedding is NaN: prompts without it must be unaffected by that prompt.
    const std::string path = edited_model(plain("llama", "f32"), "nan-token", [&](auto *, ggml_context * t) {
        ggml_tensor * embd = ggml_get_tensor(t, "token_embd.weight");
        ggml_get_data_f32(embd)[7 * embd->ne[0]] = NAN;
    });
    const auto model = std::make_shared<Model>(path, ModelOptions{1, "cpu"}, nullptr);
    std::vector<int32_t> good = test::ids(100);
    std::replace(good.begin(), good.end(), 7, 8);
    Session session(model, 512);
    session.append({{good, nullptr}}, test::kFull, nullptr, nullptr);
    const auto before = session.logits();
    CHECK_EQ(error_code([&] { session.append({{{7, 7}, nullptr}}, test::kFull, nullptr, nullptr); }),
             std::string("MODEL_NUMBERS"));
    CHECK(session.logits() == before);
    for (int il = 0; il < 2; ++il) {
        const auto rows = session.cache().values(il, 0, 128);
        CHECK(std::all_of(rows.begin(), rows.end(), [](float x) { return std::isfinite(x); }));
    }
}

TEST(a_model_file_that_changed_is_an_error_before_it_is_computed) {
    const std::string path = test::scratch("changing.gguf");
    std::filesystem::copy_file(plain(), path);
    const auto model = std::make_shared<Model>(path, ModelOptions{1, "cpu"}, nullptr);
    Session session(model, 256);
    session.append({{test::ids(20), nullptr}}, test::kFull, nullptr, nullptr);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    const auto code = [&](auto body) { return error_code(body); };
    CHECK_EQ(code([&] { session.append({{test::ids(20), nullptr}}, test::kFull, nullptr, nullptr); }),
             std::string("MODEL_CHANGED"));
    CHECK_EQ(code([&] { session.generate(2, {}, nullptr, nullptr); }), std::string("MODEL_CHANGED"));
    CHECK_EQ(code([&] { test::encode(model, test::ids(20)); }), std::string("MODEL_CHANGED"));
    CHECK_EQ(session.length(), 20);
}
