#include "model_check.h"

#include <algorithm>
#include <set>

#include "engine/error.h"
#include "vocab.h"

namespace kvasir {

namespace {

constexpr size_t kNamed = 4;  // maximum number of unsupported names in a message

Error unsupported(const std::string & what) {
    return Error("MODEL_UNSUPPORTED", "The model is not supported: " + what + ".",
                 "Choose another model, or another version of this one.");
}

// Keys under "<family>." that do not affect the computation.
const char * const kOtherKeys[] = {"vocab_size", "tensor_data_layout", "pooling_type", "rope.scaling.finetuned",
                                   "expert_used_count"};

// Keys whose value is what a family computes anyway.
bool says_nothing_new(const GgufFile & file, const std::string & key, const std::string & name) {
    if (name == "attention.causal") return file.boolean(key).value_or(true);
    return file.is_neutral(key);
}

// Rejects keys of the header that nobody read.
void check_keys(const HeaderReader & header, const std::string & arch) {
    const GgufFile & file = header.file();
    std::set<std::string> others;
    for (const std::string & key : file.keys()) {
        if (!key.starts_with(arch + ".")) continue;
        const std::string name = key.substr(arch.size() + 1);
        if (header.asked().count(name)) continue;
        if (std::find(std::begin(kOtherKeys), std::end(kOtherKeys), name) != std::end(kOtherKeys)) continue;
        if (!says_nothing_new(file, key, name)) others.insert(key);
    }
    if (!others.empty()) throw unsupported("its header has unsupported keys (" + listed(others) + ")");
}

// Types that files store weights in; types that our kernels cannot read are left to ggml. No integers, block sums or
// similar types.
bool supported_type(ggml_type t) {
    switch (t) {
        case GGML_TYPE_F32: case GGML_TYPE_F16: case GGML_TYPE_BF16: case GGML_TYPE_Q4_0: case GGML_TYPE_Q4_1:
        case GGML_TYPE_Q5_0: case GGML_TYPE_Q5_1: case GGML_TYPE_Q8_0: case GGML_TYPE_Q2_K: case GGML_TYPE_Q3_K:
        case GGML_TYPE_Q4_K: case GGML_TYPE_Q5_K: case GGML_TYPE_Q6_K: case GGML_TYPE_IQ1_S: case GGML_TYPE_IQ1_M:
        case GGML_TYPE_IQ2_XXS: case GGML_TYPE_IQ2_XS: case GGML_TYPE_IQ2_S: case GGML_TYPE_IQ3_XXS:
        case GGML_TYPE_IQ3_S: case GGML_TYPE_IQ4_NL: case GGML_TYPE_IQ4_XS: case GGML_TYPE_TQ1_0: case GGML_TYPE_TQ2_0:
        case GGML_TYPE_MXFP4: return true;
        default: return false;
    }
}

struct Expected {
    std::string name;
    std::vector<int64_t> shape;
    bool required;
};

std::vector<Expected> expected_tensors(const Architecture & arch, const Hparams & hp) {
    const int64_t d = hp.n_embd, v = hp.n_vocab;
    std::vector<Expected> out{
        {"token_embd.weight", {d, v}, true}, {"output_norm.weight", {d}, true}, {"output.weight", {d, v}, false}};
    if (const int64_t own = hp.n_embd_per_layer) {
        const int64_t all = own * hp.n_layer;
        out.push_back({"per_layer_token_embd.weight", {all, v}, true});
        out.push_back({"per_layer_model_proj.weight", {d, all}, true});
        out.push_back({"per_layer_proj_norm.weight", {own}, true});
    }
    for (int il = 0; il < hp.n_layer; ++il)
        for (const TensorSpec & spec : arch.layer_tensors(hp, il))
            out.push_back({spec.name, spec.file_shape(), spec.required});
    return out;
}

void check_others(const GgufFile & file, const CheckedModel & model, const std::vector<Expected> & expected) {
    const Architecture & arch = *model.arch;
    std::set<std::string> known, others;
    for (const Expected & e : expected) known.insert(e.name);
    if (arch.scales_rope_frequencies()) known.insert("rope_freqs.weight");
    if (arch.scales_rope_by_length()) known.insert({"rope_factors_long.weight", "rope_factors_short.weight"});
    const int n_layer = model.hparams.n_layer;
    const auto is_draft = [&](const std::string & name) {
        for (int il = n_layer; il < n_layer + model.hparams.n_layer_draft; ++il)
            if (name.starts_with(layer_tensor_name(il, ""))) return true;
        return false;
    };
    for (const GgufFile::Tensor & t : file.tensors())
        if (!known.count(t.name) && !is_draft(t.name)) others.insert(kind_of(t.name));
    if (others.empty()) return;
    throw unsupported("it has unsupported weights for the family " + std::string(arch.name()) + " (" +
                      listed(others) + "), and without them its answers would be wrong");
}

void check_tensors(const GgufFile & file, const std::vector<Expected> & expected) {
    std::set<std::string> types;
    for (const Expected & e : expected) {
        const GgufFile::Tensor * t = file.find(e.name);
        if (!t && !e.required) continue;
        if (!t) throw Error("MODEL_INVALID", "The model " + file.path() + " lacks the tensor " + e.name + ".");
        bool fits = true;
        for (size_t i = 0; i < GGML_MAX_DIMS; ++i) fits = fits && t->ne[i] == (i < e.shape.size() ? e.shape[i] : 1);
        if (!fits) {
            throw Error("MODEL_INVALID", "The tensor " + e.name + " of " + file.path() +
                                             " does not have the shape given by its header.");
        }
        const bool vector = e.shape.size() == 1 || e.name.ends_with(".bias");
        if (!supported_type(t->type) || (vector && t->type != GGML_TYPE_F32)) types.insert(ggml_type_name(t->type));
    }
    if (!types.empty()) {
        throw unsupported("it has weights stored as " + listed(types) + ", which is not supported there");
    }
}

// Each layer's rows of the embeddings are read separately.
void check_layer_inputs(const GgufFile & file, const Hparams & hp) {
    const GgufFile::Tensor * t = hp.n_embd_per_layer ? file.find("per_layer_token_embd.weight") : nullptr;
    if (!t || hp.n_embd_per_layer % ggml_blck_size(t->type) == 0) return;
    throw unsupported("its per-layer embeddings share blocks of " + std::string(ggml_type_name(t->type)));
}

}  // namespace

std::string listed(const std::set<std::string> & names) {
    std::string out;
    size_t n = 0;
    for (const std::string & name : names) {
        if (n++ == kNamed) return out + " and " + std::to_string(names.size() - kNamed) + " more";
        out += (out.empty() ? "" : ", ") + name;
    }
    return out;
}

std::string kind_of(const std::string & tensor) {
    const size_t end = tensor.find('.', 4);
    return tensor.starts_with("blk.") && end != std::string::npos ? "blk.*" + tensor.substr(end) : tensor;
}

CheckedModel check_model(const GgufFile & file) {
    const auto name = file.string("general.architecture");
    if (!name) throw Error("MODEL_INVALID", "The model " + file.path() + " does not name its architecture.");
    const Architecture * arch = find_architecture(*name);
    if (!arch) {
        std::set<std::string> families;
        for (auto & n : architecture_names()) families.insert(n);
        throw Error("MODEL_UNSUPPORTED", "The model's architecture \"" + *name + "\" is not supported.",
                    "Supported: " + listed(families) + ".");
    }
    const HeaderReader header(file, *name);
    CheckedModel out{arch, read_hparams(header, *arch)};
    check_keys(header, *name);
    const std::vector<Expected> expected = expected_tensors(*arch, out.hparams);
    check_others(file, out, expected);
    check_tensors(file, expected);
    check_layer_inputs(file, out.hparams);
    check_vocabulary(file);
    return out;
}

}  // namespace kvasir
