#include "weights.h"

#include <algorithm>

#include "engine/error.h"
#include "model_check.h"

namespace kvasir {

namespace {

size_t tensor_bytes(const std::vector<int64_t> & shape, ggml_type type) {
    size_t rows = 1;
    for (size_t i = 1; i < shape.size(); ++i) rows *= size_t(shape[i]);
    return ggml_row_size(type, shape[0]) * rows;
}

// The part of a tensor that `part` names: as many steps of the last dimension as `shape` has.
GgufFile::Tensor part_of(const GgufFile::Tensor & whole, const std::vector<int64_t> & shape, TensorPart part) {
    if (!part.all) return whole;
    GgufFile::Tensor out = whole;
    const size_t step = whole.bytes / size_t(part.all);
    out.ne[shape.size() - 1] = shape.back();
    out.data += size_t(part.first) * step, out.bytes = size_t(shape.back()) * step;
    return out;
}

bool is_matrix(const TensorSpec & spec) { return spec.shape.size() >= 2 && spec.name.ends_with(".weight"); }

// Whether `type` can hold weight `t` of a matrix product (of a product by experts, if it has three dimensions) on
// `device`. Asks the way llama.cpp does, with a dummy product whose weight claims to be in an empty buffer of that
// type.
bool multiplies(const GgufFile::Tensor & t, ggml_backend_buffer_type_t type, ggml_backend_dev_t device) {
    ContextPtr ctx = make_context(8);
    ggml_context * c = ctx.get();
    ggml_tensor * w = ggml_new_tensor_3d(c, t.type, t.ne[0], t.ne[1], t.ne[2]);
    ggml_tensor * x = ggml_new_tensor_2d(c, GGML_TYPE_F32, t.ne[0], 512);
    ggml_tensor * y;
    if (t.ne[2] == 1) {
        y = ggml_mul_mat(c, w, x);
    } else {
        ggml_tensor * ids = ggml_new_tensor_2d(c, GGML_TYPE_I32, 1, 512);
        y = ggml_mul_mat_id(c, w, ggml_reshape_3d(c, x, t.ne[0], 1, 512), ids);
    }
    BufferPtr empty(ggml_backend_buft_alloc_buffer(type, 0));
    w->buffer = empty.get();
    return ggml_backend_dev_supports_op(device, y);
}

}  // namespace

Weights::Weights(const std::string & path, const std::string & adapter, const std::vector<Device *> & preference,
                 Device & cpu, const std::function<void(float)> & progress)
    : file_(std::make_unique<GgufFile>(path)) {
    const CheckedModel checked = check_model(*file_);
    arch_ = checked.arch, hparams_ = checked.hparams;
    if (!adapter.empty()) adapter_ = std::make_unique<Adapter>(adapter, *file_);
    place_layers(preference, cpu);

    layers_.resize(hparams_.n_layer);
    for (int il = 0; il < hparams_.n_layer; ++il) {
        for (const TensorSpec & spec : arch_->layer_tensors(hparams_, il)) {
            ggml_tensor * t = add(spec.name, spec.shape, *devices_[il], is_matrix(spec), spec.part);
            if (t) layers_[il].*spec.slot = t;
        }
    }
    const int64_t d = hparams_.n_embd, v = hparams_.n_vocab;
    token_embd_ = add("token_embd.weight", {d, v}, cpu, false);  // rows are looked up, never multiplied
    if (hparams_.n_embd_per_layer) add_layer_inputs(cpu);
    output_norm_ = add("output_norm.weight", {d}, head_device(), false);
    output_ = add("output.weight", {d, v}, head_device(), true);
    output_device_ = &head_device();
    // Tied embeddings: one row per token, so plain memory costs nothing on the host; another device needs a copy.
    if (!output_ && head_device().is_host()) output_ = token_embd_, output_device_ = &cpu;
    else if (!output_) output_ = add("token_embd.weight", {d, v}, head_device(), true);
    if (adapter_) adapter_->load();
    load(progress);
}

// All on the host: only the rows of a prompt's tokens are ever read.
void Weights::add_layer_inputs(Device & cpu) {
    const int64_t n = hparams_.n_embd_per_layer, all = n * hparams_.n_layer;
    for (int il = 0; il < hparams_.n_layer; ++il) {
        input_projections_.push_back(
            add("per_layer_model_proj.weight", {hparams_.n_embd, n}, cpu, true, {il * n, all}));
    }
    input_norm_ = add("per_layer_proj_norm.weight", {n}, cpu, false);
    input_embeddings_ = add("per_layer_token_embd.weight", {all, hparams_.n_vocab}, cpu, false);
}

Weights::LayerInput Weights::layer_input(ggml_context * c, int il) const {
    ggml_tensor * e = input_embeddings_;
    const int64_t n = hparams_.n_embd_per_layer;
    return {input_projections_[size_t(il)], input_norm_,
            ggml_view_2d(c, e, n, e->ne[1], e->nb[1], ggml_row_size(e->type, n) * size_t(il))};
}

// As many trailing layers as fit go to the first device of the preference, the rest to the CPU. A tenth of the device's
// memory (at least 1 GiB) is reserved for KV and activations.
void Weights::place_layers(const std::vector<Device *> & preference, Device & cpu) {
    devices_.assign(hparams_.n_layer + 1, &cpu);
    for (Device * gpu : preference) {
        if (gpu->is_host()) continue;
        size_t budget = spare_memory(gpu->dev());
        auto take = [&](size_t bytes) { return bytes <= budget ? (budget -= bytes, true) : false; };
        const auto * out = file_->find("output.weight");
        if (!out) out = file_->find("token_embd.weight");
        if (!take(out ? out->bytes : 0)) return;
        devices_[hparams_.n_layer] = gpu;
        for (int end = hparams_.n_layer, begin; end > 0; end = begin) {
            // Layers that read another layer's keys and values are on the same device as that layer.
            begin = end - 1;
            for (int il = begin; il >= begin; --il) begin = std::min(begin, hparams_.layer(il).kv_of);
            size_t bytes = 0;
            for (int il = begin; il < end; ++il) bytes += layer_bytes(il);
            if (!take(bytes)) return;
            std::fill(devices_.begin() + begin, devices_.begin() + end, gpu);
        }
        return;
    }
}

size_t Weights::layer_bytes(int il) const {
    const std::string prefix = "blk." + std::to_string(il) + ".";
    size_t bytes = adapter_ ? adapter_->bytes(prefix) : 0;
    for (auto & t : file_->tensors())
        if (t.name.starts_with(prefix)) bytes += t.bytes;
    return bytes;
}

ggml_backend_buffer_type_t Weights::choose(const GgufFile::Tensor & t, Device & device, bool matrix) const {
    if (matrix) {
        for (auto type : device.weight_types())
            if (multiplies(t, type, device.dev())) return type;
    }
    return device.weight_types().back();
}

ggml_tensor * Weights::add(const std::string & name, const std::vector<int64_t> & shape, Device & device, bool matrix,
                           TensorPart part) {
    const GgufFile::Tensor * whole = file_->find(name);
    if (!whole) return nullptr;
    const GgufFile::Tensor source = part_of(*whole, shape, part);
    require(source.bytes == tensor_bytes(shape, source.type), "check_model() has verified the shapes");
    auto & [ctx, pending] = groups_[choose(source, device, matrix)];
    if (!ctx) ctx = make_context(2 * file_->tensors().size() + 8);  // a fused tensor is split into several
    ggml_tensor * t = ggml_new_tensor(ctx.get(), source.type, int(shape.size()), shape.data());
    ggml_set_name(t, name.c_str());
    pending.push_back({t, source});
    if (adapter_) adapter_->place(name, t, part.first, device);
    return t;
}

void Weights::load(const std::function<void(float)> & progress) {
    size_t total = 0, done = 0;
    for (auto & [type, group] : groups_)
        for (auto & p : group.second) total += p.source.bytes;
    ggml_backend_buffer_type_t plain =
        ggml_backend_dev_buffer_type(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU));
    for (auto & [type, group] : groups_) {
        auto & [ctx, pending] = group;
        auto account = [&](const char * name, size_t bytes) {
            buffer_bytes_[name] += bytes;
            done += bytes;
            if (progress) progress(float(done) / float(total));
        };
        if (type == plain) {
            use_mapped(pending);
            for (auto & p : pending) account("CPU_Mapped", p.source.bytes);
        } else {
            buffers_.push_back(allocate_tensors(ctx.get(), type));
            for (auto & p : pending) {
                ggml_backend_tensor_set(p.tensor, p.source.data, 0, p.source.bytes);
                const MappedFile & map = *file_->maps()[p.source.part];
                map.forget(size_t(p.source.data - map.data()), p.source.bytes);
                account(ggml_backend_buft_name(type), p.source.bytes);
            }
            ggml_backend_buffer_set_usage(buffers_.back().get(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
        }
    }
}

// A buffer is a range of addresses, so each file of a model gets one.
void Weights::use_mapped(const std::vector<Pending> & pending) {
    std::vector<ggml_backend_buffer_t> files;
    for (const auto & map : file_->maps()) {
        buffers_.emplace_back(ggml_backend_cpu_buffer_from_ptr(const_cast<uint8_t *>(map->data()), map->size()));
        files.push_back(buffers_.back().get());
        ggml_backend_buffer_set_usage(files.back(), GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    }
    for (const Pending & p : pending) {
        // GGUF aligns data to at least 32 bytes, which is what ggml's CPU kernels require.
        ggml_backend_tensor_alloc(files[p.source.part], p.tensor, const_cast<uint8_t *>(p.source.data));
    }
}

}  // namespace kvasir
