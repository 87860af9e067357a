#include "engine_choice.h"

#include <algorithm>

#include "embedder.h"
#include "engine/devices/backend.h"
#include "engine/error.h"
#include "engine/gguf/vocab.h"
#include "llama.h"
#include "llama/header_numbers.h"

namespace kvasir {

namespace {

// Architectures that libllama supports but that do not generate text from start to end.
struct Kind {
    const char * refusal;
    std::vector<const char *> architectures;
};
const Kind kNoChat[] = {
    {"It is the image or audio encoder (a projector) of another model, and cannot chat alone.", {"clip"}},
    {"It is the draft head of another model: it only drafts tokens for that model, and cannot chat alone.",
     {"eagle3", "dflash", "gemma4-assistant"}},
    {"It is an encoder with a decoder: it transforms a complete input text, and cannot chat.", {"t5"}},
    {"It is a diffusion model: it generates its whole answer in parallel, which is not supported.",
     {"dream", "llada", "llada-moe", "rnd1"}},
    {"It generates sound instead of text, and cannot chat.", {"wavtokenizer-dec", "pockettts", "qwen3tts"}},
};

// Why a file that is not a model is refused; empty for a model.
std::string refusal_by_type(const GgufFile & file) {
    const std::string type = file.string("general.type").value_or("");
    if (type == "mmproj") return kNoChat[0].refusal;
    if (type == "adapter") return "It is an adapter (LoRA): it is not a model, but modifies the one it was made for.";
    if (type == "imatrix") return "It contains quantisation statistics (an importance matrix), not a model.";
    if (file.string("general.architecture").value_or("") == "controlvector") {
        return "It is a control vector that changes another model, and cannot chat alone.";
    }
    if (is_reranker(file)) return "It is a reranker: it ranks passages for a question, and cannot chat.";
    if (is_embedding_model(file)) return "It is an embedding model: it is for search, and cannot chat.";
    return "";
}

std::string refusal_by_architecture(const GgufFile & file, const std::string & arch) {
    for (const Kind & kind : kNoChat)
        for (const char * name : kind.architectures)
            if (arch == name) return kind.refusal;
    if (!llama_knows(arch)) return "Its architecture \"" + arch + "\" is not known to this version of Kvasir.";
    return "";
}

// Why Kvasir does not blend the KV of a model that libllama runs.
std::string obstacle_of(const GgufFile & file, const std::string & arch) {
    const std::vector<std::string> keys = file.keys();
    const auto any = [&](const char * part) {
        return std::any_of(keys.begin(), keys.end(),
                           [&](const std::string & key) { return key.starts_with(arch + "." + part); });
    };
    for (const char * part : {"ssm.", "wkv.", "shortconv.", "kda."})
        if (any(part)) return "running-state";
    return any("attention.kv_lora_rank") ? "compressed-kv" : "architecture";
}

}  // namespace

const char * engine_name(EngineKind kind) {
    switch (kind) {
        case EngineKind::blending: return "blending";
        case EngineKind::llama: return "llama";
        default: return "none";
    }
}

EngineChoice choose_engine(const GgufFile & file) {
    EngineChoice choice;
    choice.refusal = refusal_by_type(file);
    if (!choice.refusal.empty()) return choice;
    try {
        choice.checked = check_model(file);
        choice.kind = EngineKind::blending;
        return choice;
    } catch (const Error & e) {
        if (e.code != "MODEL_UNSUPPORTED") throw;
    }
    const std::string arch = file.string("general.architecture").value_or("");
    choice.refusal = refusal_by_architecture(file, arch);
    if (!choice.refusal.empty()) return choice;
    check_header_numbers(file, arch);
    check_vocabulary(file);
    choice.kind = EngineKind::llama;
    choice.obstacle = obstacle_of(file, arch);
    return choice;
}

bool llama_knows(const std::string & architecture) {
    struct Free {
        void operator()(gguf_context * g) const { gguf_free(g); }
    };
    std::unique_ptr<gguf_context, Free> header(gguf_init_empty());
    gguf_set_val_str(header.get(), "general.architecture", architecture.c_str());
    gguf_set_val_str(header.get(), "tokenizer.ggml.model", "no_vocab");
    llama_model_params params = llama_model_default_params();
    params.vocab_only = true;
    params.n_gpu_layers = 0;
    const auto no_data = [](ggml_tensor *, void *) {};
    llama_model * model = llama_model_init_from_user(header.get(), no_data, nullptr, params);
    if (model) llama_model_free(model);
    return model != nullptr;
}

}  // namespace kvasir
