// Headers of each family's published files, including what converters write beyond what a model needs: each is
// accepted, and its numbers are interpreted correctly.
#include <cmath>
#include <functional>

#include "engine/gguf/model_check.h"
#include "tests/edited_model.h"
#include "tests/fixtures.h"

using namespace kvasir;

namespace {

class Header {
  public:
    Header(gguf_context * g, std::string arch) : g_(g), arch_(std::move(arch)) {}
    Header & u32(const char * key, uint32_t v) { return gguf_set_val_u32(g_, full(key), v), *this; }
    Header & f32(const char * key, float v) { return gguf_set_val_f32(g_, full(key), v), *this; }
    Header & text(const char * key, const char * v) { return gguf_set_val_str(g_, full(key), v), *this; }
    Header & flag(const char * key, bool v) { return gguf_set_val_bool(g_, full(key), v), *this; }
    Header & flags(const char * key, const std::vector<int8_t> & v) {
        return gguf_set_arr_data(g_, full(key), GGUF_TYPE_BOOL, v.data(), v.size()), *this;
    }

  private:
    const char * full(const char * key) { return (key_ = arch_ + "." + key).c_str(); }
    gguf_context * g_;
    std::string arch_, key_;
};

// The hyperparameters of a small model with these published keys.
Hparams hparams_of(const std::string & arch, const std::string & flags, const std::function<void(Header)> & edit) {
    const std::string name = "published-" + arch + "-" + std::to_string(std::hash<std::string>{}(flags));
    const std::string plain = test::random_model(name, "--arch " + arch + " --vocab 600 " + flags);
    const std::string path = test::edited_model(plain, "published", [&](gguf_context * g, ggml_context *) {
        gguf_set_val_u32(g, "general.file_type", 15);
        gguf_set_val_u32(g, "general.quantization_version", 2);
        edit(Header(g, arch));
    });
    return check_model(GgufFile(path)).hparams;
}

bool near(float a, float b) { return std::fabs(a - b) < 1e-5f * std::max(1.0f, std::fabs(b)); }

}  // namespace

TEST(a_header_of_ministral_3) {
    const Hparams hp = hparams_of("mistral3", "--layers 2", [](Header h) {
        h.u32("context_length", 262144).f32("rope.freq_base", 1e6f).text("rope.scaling.type", "yarn");
        h.f32("rope.scaling.factor", 16).u32("rope.scaling.original_context_length", 16384);
        h.f32("rope.scaling.yarn_beta_fast", 32).f32("rope.scaling.yarn_beta_slow", 1);
        h.f32("rope.scaling.yarn_log_multiplier", 1).f32("attention.temperature_scale", 0.1f).u32("vocab_size", 600);
    });
    CHECK(near(hp.ropes.front().attn_factor, 1 / (0.1f * std::log(16.0f) + 1)));  // YaRN's own factor
    CHECK(near(hp.temperature.at(16383), 1) && near(hp.temperature.at(16384), 0.1f * std::log(2.0f) + 1));
}

TEST(a_header_of_qwen_3_30b_a3b) {
    const Hparams hp = hparams_of("qwen3moe", "--layers 2 --experts 16 --experts-used 8", [](Header h) {
        h.u32("context_length", 40960).f32("rope.freq_base", 1e6f).f32("attention.layer_norm_rms_epsilon", 1e-6f);
    });
    CHECK_EQ(hp.experts.count, 16);
    CHECK_EQ(hp.experts.used, 8);
    CHECK(hp.experts.normalised && hp.experts.gating == Gating::softmax);
}

TEST(headers_of_phi_4_and_phi_4_mini) {
    const Hparams mini = hparams_of("phi3", "--layers 2 --rope longrope", [](Header h) {
        h.u32("context_length", 131072).u32("rope.scaling.original_context_length", 4096);
        h.f32("rope.scaling.attn_factor", 1.190238f).u32("attention.sliding_window", 262144);
    });
    CHECK_EQ(mini.rope_scaling, std::string("longrope"));
    CHECK(near(mini.ropes.front().freq_factors.front(), 4));  // those for long contexts
    CHECK_EQ(mini.window, 0);
    const Hparams four = hparams_of("phi3", "--layers 2", [](Header h) { h.u32("attention.sliding_window", 0); });
    CHECK_EQ(four.rope_scaling, std::string("none"));
    CHECK_EQ(four.ropes.front().n_rot, four.head_dim / 2);
}

TEST(a_header_of_granite_3) {
    const Hparams hp = hparams_of("granite", "--layers 2", [](Header h) {
        h.f32("attention.scale", 0.0078125f).f32("embedding_scale", 12).f32("residual_scale", 0.22f);
        h.f32("logit_scale", 16).u32("vocab_size", 600).f32("rope.freq_base", 1e7f);
    });
    CHECK(near(hp.attention_scale, 0.0078125f) && near(hp.logit_scale, 1.0f / 16));
    CHECK_EQ(hp.layers.front().rope, 0);
    const auto unrotated = [](Header h) { h.flag("rope.scaling.finetuned", false); };
    CHECK_EQ(hparams_of("granite", "--layers 2", unrotated).layers.front().rope, -1);
}

TEST(a_header_of_smollm_3) {
    const Hparams hp = hparams_of("smollm3", "--layers 8", [](Header h) { h.f32("rope.freq_base", 5e6f); });
    for (int il = 0; il < 8; ++il) CHECK_EQ(hp.layers[size_t(il)].rope, il % 4 == 3 ? -1 : 0);
}

TEST(headers_of_olmo_2_and_3) {
    CHECK_EQ(hparams_of("olmo2", "--layers 4", [](Header h) { h.f32("rope.freq_base", 5e5f); }).window, 0);
    const Hparams hp = hparams_of("olmo2", "--layers 4", [](Header h) {
        h.u32("attention.sliding_window", 4096).flags("attention.sliding_window_pattern", {1, 1, 0, 1});
        h.text("rope.scaling.type", "yarn").f32("rope.scaling.factor", 8).f32("rope.scaling.attn_factor", 1.2079f);
        h.u32("rope.scaling.original_context_length", 8192);
    });
    CHECK_EQ(hp.window, 4096);
    CHECK(hp.layers[0].windowed && !hp.layers[2].windowed && hp.layers[3].windowed);
    const RopeParams &far = hp.ropes[size_t(hp.layers[2].rope)], &near_by = hp.ropes[size_t(hp.layers[0].rope)];
    CHECK(near(far.freq_scale, 1.0f / 8) && near(near_by.freq_scale, 1));
    CHECK(near(near_by.attn_factor, 1));
}

TEST(a_header_of_glm_4_5_air) {
    const Hparams hp = hparams_of("glm4moe", "--layers 4 --experts 16 --experts-used 8", [](Header h) {
        h.u32("context_length", 131072).f32("rope.freq_base", 1e6f).f32("expert_weights_scale", 1);
    });
    CHECK(hp.n_layer == 3 && hp.n_layer_draft == 1 && hp.experts.dense_layers == 1 && hp.experts.shared == 2);
    CHECK(hp.experts.gating == Gating::sigmoid && hp.experts.normalised && hp.experts.scale == 1);
}

TEST(a_header_of_gemma_2) {
    const Hparams hp = hparams_of("gemma2", "--layers 4", [](Header h) {
        h.u32("context_length", 8192).u32("attention.sliding_window", 4096).f32("rope.freq_base", 10000);
        h.f32("attn_logit_softcapping", 50).f32("final_logit_softcapping", 30);
    });
    CHECK(hp.window == 4096 && hp.attention_softcap == 50 && hp.logit_softcap == 30);
    for (int il = 0; il < 4; ++il) CHECK_EQ(hp.layer(il).windowed, il % 2 == 0);
}

TEST(headers_of_gemma_3) {
    const Hparams hp = hparams_of("gemma3", "--layers 12", [](Header h) {
        h.u32("context_length", 131072).u32("attention.sliding_window", 1024).f32("rope.freq_base", 1e6f);
        h.text("rope.scaling.type", "linear").f32("rope.scaling.factor", 8);
        h.f32("attention.layer_norm_rms_epsilon", 1e-6f);
    });
    CHECK_EQ(hp.window, 1024);
    for (int il = 0; il < 12; ++il) CHECK_EQ(hp.layers[size_t(il)].windowed, il % 6 != 5);
    const RopeParams &global = hp.ropes[size_t(hp.layers[5].rope)], &local = hp.ropes[size_t(hp.layers[0].rope)];
    CHECK(near(global.freq_base, 1e6f) && near(global.freq_scale, 0.125f));
    CHECK(near(local.freq_base, 1e4f) && near(local.freq_scale, 1));
    CHECK(near(hp.embedding_scale, 16));  // √256
}

// E2B: a window in four of five layers; the last twenty of thirty-five read the KV of the fourteenth and fifteenth.
TEST(a_header_of_gemma_4_e2b) {
    const Hparams hp = hparams_of("gemma4", "--layers 8 --shared-kv 2 --window 512 --kv-heads 1", [](Header h) {
        h.u32("context_length", 131072).f32("rope.freq_base", 1e6f).f32("rope.freq_base_swa", 1e4f);
        h.f32("attention.layer_norm_rms_epsilon", 1e-6f).f32("final_logit_softcapping", 30);
    });
    CHECK_EQ(hp.window, 512);
    CHECK_EQ(hp.n_layer_kv, 6);
    CHECK_EQ(hp.n_embd_per_layer, 256);
    const LayerShape &local = hp.layer(4), &global = hp.layer(5);
    CHECK(local.windowed && local.head_dim == 32 && !global.windowed && global.head_dim == 64);
    CHECK(hp.layer(6).kv_of == 4 && hp.layer(7).kv_of == 5 && local.kv_of == 4);
    CHECK_EQ(hp.layer(7).n_ff, 2 * local.n_ff);
    const RopeParams &far = hp.ropes[size_t(global.rope)], &near_by = hp.ropes[size_t(local.rope)];
    CHECK(near(far.freq_base, 1e6f) && near(near_by.freq_base, 1e4f) && near_by.n_rot == 32);
    CHECK(far.freq_factors.size() == 32 && far.freq_factors.back() == 1e30f && near_by.freq_factors.empty());
    CHECK_EQ(hp.rope_scaling, std::string("proportional"));
    CHECK(hp.attention_scale == 1 && hp.logit_softcap == 30);
}

TEST(a_header_of_gemma_4_may_name_tokens_to_suppress) {
    const std::string plain = test::random_model("gemma4-suppress", "--arch gemma4 --layers 2 --vocab 600");
    const auto logits = [&](const std::vector<int32_t> & suppressed) {
        const std::string path = test::edited_model(plain, "suppressing", [&](gguf_context * g, ggml_context *) {
            const char * key = "tokenizer.ggml.suppress_tokens";
            gguf_set_arr_data(g, key, GGUF_TYPE_INT32, suppressed.data(), suppressed.size());
        });
        Session session(std::make_shared<Model>(path, ModelOptions{2, "cpu"}, nullptr), 64);
        session.append({{test::ids(12), nullptr}}, test::kFull, nullptr, nullptr);
        return session.logits();
    };
    const std::vector<float> free = logits({599});
    const auto likeliest = int32_t(std::max_element(free.begin(), free.end()) - free.begin());
    const std::vector<float> less = logits({likeliest, 7});
    for (int32_t t = 0; t < 599; ++t) {
        if (t == likeliest || t == 7) CHECK_EQ(less[size_t(t)], std::numeric_limits<float>::lowest());
        else CHECK_EQ(less[size_t(t)], free[size_t(t)]);
    }
}

TEST(headers_of_gemma_4_31b_and_26b_a4b) {
    const Hparams dense = hparams_of("gemma4", "--variant 31b --layers 4", [](Header) {});
    CHECK_EQ(dense.n_layer_kv, 4);
    CHECK(dense.layer(0).n_head_kv == 2 && dense.layer(1).n_head_kv == 1 && dense.n_embd_per_layer == 0);
    CHECK_EQ(dense.experts.count, 0);
    const Hparams sparse = hparams_of("gemma4", "--variant 26b-a4b --layers 4", [](Header) {});
    CHECK(sparse.experts.count == 8 && sparse.experts.used == 2 && sparse.experts.normalised);
}

TEST(a_header_of_gpt_oss) {
    const Hparams hp = hparams_of("gpt-oss", "--layers 4 --experts 8 --experts-used 4", [](Header h) {
        h.u32("context_length", 131072).u32("attention.sliding_window", 128).f32("rope.freq_base", 150000);
        h.text("rope.scaling.type", "yarn").f32("rope.scaling.factor", 32);
        h.u32("rope.scaling.original_context_length", 4096);
    });
    for (int il = 0; il < 4; ++il) CHECK_EQ(hp.layers[size_t(il)].windowed, il % 2 == 0);
    CHECK(hp.experts.gating == Gating::softmax_of_chosen && !hp.experts.normalised);
    CHECK(hp.activation == Activation::clamped_silu);
}

TEST(headers_of_glm_4_and_qwen_3_vl) {
    const Hparams glm = hparams_of("glm4", "--layers 2", [](Header h) { h.f32("rope.freq_base", 10000); });
    CHECK_EQ(glm.ropes.front().n_rot, glm.head_dim / 2);
    const Hparams vl = hparams_of("qwen3vl", "--layers 2", [](Header h) { h.f32("rope.freq_base", 5e6f); });
    CHECK_EQ(vl.ropes.front().n_rot, vl.head_dim);
}
