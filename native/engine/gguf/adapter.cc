#include "adapter.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/chunks/hash.h"
#include "engine/error.h"
#include "engine/kernels/matmul.h"
#include "model_check.h"

namespace kvasir {

namespace {

constexpr double kMostAlpha = 1e6;
const char * const kEmbedding = "token_embd.weight";
const char * const kOutput = "output.weight";

std::unique_ptr<GgufFile> open_adapter(const std::string & path) {
    try {
        return std::make_unique<GgufFile>(path);
    } catch (const Error & e) {
        if (e.code != "MODEL_INVALID") throw;
        throw Error("ADAPTER_INVALID", e.what(), e.advice);
    }
}

Error unsupported(const GgufFile & file, const std::string & what) {
    return Error("ADAPTER_UNSUPPORTED", "The adapter " + file.path() + " is not supported: " + what + ".",
                 "Choose another adapter, or merge this one into its model.");
}

Error mismatch(const GgufFile & file, const std::string & what) {
    return Error("ADAPTER_MISMATCH", "The adapter " + file.path() + " was made for another model: " + what + ".",
                 "Choose the model that it was trained on.");
}

Error invalid(const GgufFile & file, const std::string & why) {
    return Error("ADAPTER_INVALID", "The file " + file.path() + " is not a usable LoRA adapter: " + why + ".",
                 "Choose a GGUF file that convert_lora_to_gguf.py of llama.cpp wrote.");
}

void check_header(const GgufFile & file, const GgufFile & model) {
    const std::string kind = file.string("general.type").value_or(""), type = file.string("adapter.type").value_or("");
    if (kind != "adapter") throw invalid(file, "its header does not declare an adapter");
    if (type != "lora") throw unsupported(file, "its type is \"" + type + "\"");
    const char * const arch = "general.architecture";
    const std::string own = file.string(arch).value_or(""), models = model.string(arch).value_or("");
    if (own != models) throw mismatch(file, "its architecture is \"" + own + "\", this model's is \"" + models + "\"");
    std::set<std::string> others;
    for (const std::string & key : file.keys()) {
        const bool known = key == "adapter.type" || key == "adapter.lora.alpha" || key == "adapter.lora.task_name" ||
                           key == "adapter.lora.prompt_prefix";
        if (key.starts_with("adapter.") && !known) others.insert(key);
    }
    if (!others.empty()) throw unsupported(file, "its header has unsupported keys (" + listed(others) + ")");
}

bool is_matrix(const GgufFile::Tensor & t) { return t.ne[2] == 1 && t.ne[3] == 1; }

bool supported_type(ggml_type t) {
    return t == GGML_TYPE_F32 || t == GGML_TYPE_F16 || t == GGML_TYPE_BF16 || t == GGML_TYPE_Q8_0;
}

}  // namespace

Adapter::Adapter(const std::string & path, const GgufFile & model) : path_(path), file_(open_adapter(path)) {
    check_header(*file_, model);
    read_alpha();
    read_pairs();
    for (const auto & [name, pair] : sources_) check_pair(name, pair, model);
    Sha256 sha;
    for (const auto & map : file_->maps()) sha.update(map->data(), map->size());
    hash_ = sha.digest();
}

void Adapter::read_alpha() {
    const double alpha = file_->number("adapter.lora.alpha").value_or(0);
    if (!(std::fabs(alpha) <= kMostAlpha)) throw invalid(*file_, "its alpha is out of range");
    alpha_ = float(alpha);
}

void Adapter::read_pairs() {
    std::set<std::string> others;
    for (const GgufFile::Tensor & t : file_->tensors()) {
        const std::string weight = t.name.substr(0, t.name.rfind('.'));
        if (t.name.ends_with(".lora_a")) sources_[weight].a = &t;
        else if (t.name.ends_with(".lora_b")) sources_[weight].b = &t;
        else others.insert(kind_of(t.name));
    }
    if (!others.empty()) throw unsupported(*file_, "it has tensors other than LoRA matrices (" + listed(others) + ")");
    if (sources_.empty()) throw invalid(*file_, "it contains no weights");
    for (const auto & [name, pair] : sources_) {
        if (!pair.a || !pair.b) throw invalid(*file_, "one of the two matrices for " + name + " is missing");
    }
}

void Adapter::check_pair(const std::string & name, const Source & pair, const GgufFile & model) const {
    const GgufFile::Tensor & a = *pair.a, & b = *pair.b;
    const GgufFile::Tensor * w = model.find(name);
    if (!w) throw mismatch(*file_, "this model has no weight " + name);
    const bool looked_up = name == kEmbedding;
    if (looked_up && !model.find(kOutput)) {
        throw unsupported(*file_, "it changes the token embedding (" + name +
                                      "), which is also this model's output matrix");
    }
    if (w->ne[2] != 1) throw unsupported(*file_, "it changes the weights of experts (" + kind_of(name) + ")");
    const bool multiplied = w->ne[1] > 1 && name.ends_with(".weight") && (name.starts_with("blk.") || name == kOutput);
    if (!multiplied && !looked_up) throw unsupported(*file_, "it changes " + kind_of(name));
    if (!is_matrix(a) || !is_matrix(b) || a.ne[looked_up ? 0 : 1] != b.ne[0] || b.ne[0] < 1) {
        throw invalid(*file_, "the two matrices for " + name + " have incompatible shapes");
    }
    // A has the input width of W and B its output width. For the token embedding A's rows are looked up, as W's are.
    const int64_t in = looked_up ? a.ne[1] : a.ne[0], out = b.ne[1];
    if (in != w->ne[looked_up ? 1 : 0] || out != w->ne[looked_up ? 0 : 1]) {
        throw mismatch(*file_, "the sizes of its matrices for " + name + " do not match");
    }
    if (!supported_type(a.type) || !supported_type(b.type)) {
        throw unsupported(*file_, "its matrices for " + name + " are stored as " + ggml_type_name(a.type) + " and " +
                                      ggml_type_name(b.type));
    }
}

size_t Adapter::bytes(const std::string & prefix) const {
    size_t sum = 0;
    for (const auto & [name, pair] : sources_)
        if (name.starts_with(prefix)) sum += pair.a->bytes + pair.b->bytes;
    return sum;
}

ggml_tensor * Adapter::copy_of(const GgufFile::Tensor & source, int64_t first, int64_t rows, Device & device) {
    ContextPtr & c = contexts_[&device];
    if (!c) c = make_context(4 * file_->tensors().size());  // a fused tensor is split into several
    ggml_tensor * t = ggml_new_tensor_2d(c.get(), source.type, source.ne[0], rows);
    ggml_set_name(t, source.name.c_str());
    copies_.push_back({t, source.data + size_t(first) * ggml_row_size(source.type, source.ne[0])});
    return t;
}

void Adapter::place(const std::string & name, const ggml_tensor * weight, int64_t first, Device & device) {
    const auto found = sources_.find(name);
    if (found == sources_.end()) return;
    Source & s = found->second;
    if (!s.placed_a) s.placed_a = copy_of(*s.a, 0, s.a->ne[1], device);
    ggml_tensor * b = copy_of(*s.b, first, name == kEmbedding ? s.b->ne[1] : weight->ne[1], device);
    pairs_[weight] = {s.placed_a, b, alpha_ == 0 ? 1 : alpha_ / float(b->ne[0])};
}

void Adapter::load() {
    for (const auto & [name, pair] : sources_)
        if (!pair.placed_a) throw unsupported(*file_, "it changes " + name + ", which this model does not use");
    for (auto & [device, c] : contexts_) {
        buffers_.push_back(allocate_tensors(c.get(), device->weight_types().back()));
        ggml_backend_buffer_set_usage(buffers_.back().get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    }
    for (const Copy & copy : copies_) ggml_backend_tensor_set(copy.tensor, copy.from, 0, ggml_nbytes(copy.tensor));
    copies_.clear();
    sources_.clear();
    file_.reset();
}

const Adapter::Pair * Adapter::beside(const ggml_tensor * weight) const {
    const auto found = pairs_.find(weight);
    return found == pairs_.end() ? nullptr : &found->second;
}

ggml_tensor * adapted(ggml_context * c, const Adapter * adapter, const ggml_tensor * w, ggml_tensor * x,
                      ggml_tensor * y, Rows rows) {
    const Adapter::Pair * pair = adapter ? adapter->beside(w) : nullptr;
    if (!pair) return y;
    ggml_tensor * inner = ggml_scale(c, matmul(c, pair->a, x, rows), pair->scale);  // scale the smaller product
    return ggml_add(c, y, matmul(c, pair->b, inner, rows));
}

}  // namespace kvasir
