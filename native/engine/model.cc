#include "model.h"

#include <algorithm>

#include "clock.h"
#include "engine/chunks/hash.h"
#include "engine/scheduling/cores.h"
#include "error.h"

namespace kvasir {

namespace {

// The parent key of first prefix blocks; nothing hashed for chunks starts like this.
BlockHash prefix_root(const Digest & fingerprint, KvDtype kv) {
    const std::string what = std::string("kvasir prefix blocks, ") + dtype_name(kv) +
                             ", keys with RoPE, tokens a block: " + std::to_string(kKvBlock);
    Sha256 h;
    h.update(what.data(), what.size() + 1);
    h.update(fingerprint.data(), fingerprint.size());
    return h.digest();
}

Digest fingerprint_of(const Weights & weights) {
    const Digest model = weights.file().fingerprint();
    if (!weights.adapter()) return model;
    const std::string what = "kvasir model with a LoRA adapter";
    const Digest & adapter = weights.adapter()->hash();
    Sha256 h;
    h.update(what.data(), what.size() + 1);
    h.update(model.data(), model.size());
    h.update(adapter.data(), adapter.size());
    return h.digest();
}

ggml_backend_dev_t find_device(const std::string & name) {
    if (name == "auto") {
        ggml_backend_dev_t gpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU);
        return gpu ? gpu : ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_IGPU);
    }
    if (name == "cpu") return nullptr;
    ggml_backend_dev_t dev = ggml_backend_dev_by_name(name.c_str());
    if (!dev) {
        throw Error("BAD_ARGUMENT", "Unknown device: \"" + name + "\".",
                    "Use auto, cpu, or one that is listed.");
    }
    return dev;
}

}  // namespace

Model::Model(const std::string & path, const ModelOptions & options, const std::function<void(float)> & progress)
    : threads_(usable_threads(options.threads)) {
    const auto start = Clock::now();
    devices_.push_back(std::make_unique<Device>(ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU), threads_,
                                                options.threads > 0));
    std::vector<Device *> preference;
    if (ggml_backend_dev_t dev = find_device(options.device);
        dev && ggml_backend_dev_type(dev) != GGML_BACKEND_DEVICE_TYPE_CPU) {
        devices_.push_back(std::make_unique<Device>(dev, threads_));
        preference.push_back(devices_.back().get());
    }
    weights_ = std::make_unique<Weights>(path, options.adapter, preference, *devices_.front(), progress);
    vocab_ = std::make_unique<Vocab>(weights_->file());
    if (vocab_->size() > hparams().n_vocab) {
        throw Error("MODEL_INVALID", "The model " + path + " has more tokens in its vocabulary than embeddings.");
    }
    fingerprint_ = fingerprint_of(*weights_);
    forward_ = std::make_unique<Forward>(*weights_, *devices_.front());
    const auto whole = [&](const LayerShape & l) { return l.head_dim % ggml_blck_size(dtype_ggml(options.kv)) == 0; };
    const auto & layers = hparams().layers;
    const KvDtype kv = std::all_of(layers.begin(), layers.end(), whole) ? options.kv : KvDtype::f16;
    kv_pool_ = std::make_unique<KvPool>(*weights_, prefix_root(fingerprint_, kv), kv);
    chunk_pool_ = std::make_unique<KvPool>(*weights_, BlockHash{}, KvDtype::f16, KvLayers::shared);
    device_tier_ = std::make_unique<DeviceTier>(*weights_, *kv_pool_);
    scheduler_ = std::make_shared<Scheduler>([f = forward_.get()](const auto & rows, const auto * abort) {
        f->decode(rows, abort);
    });
    forward_->between = [s = scheduler_.get()](double rows) { s->pause(rows); };
    load_ms_ = ms_since(start);
}

std::string Model::fingerprint_hex() const { return to_hex(fingerprint_); }

ChunkShape Model::chunk_shape(KvDtype dtype, const std::vector<int32_t> & prefix) const {
    ChunkShape s;
    s.fingerprint = fingerprint_;
    s.prefix_hash = hash_tokens(prefix);
    s.dtype = dtype;
    for (int il = 0; il < hparams().n_layer_kv; ++il) {
        const LayerShape & layer = hparams().layer(il);
        s.layers.push_back({uint32_t(layer.n_head_kv), uint32_t(layer.head_dim)});
    }
    s.n_vocab = uint32_t(hparams().n_vocab);
    return s;
}

bool Model::encodes(const ChunkShape & shape) const {
    ChunkShape own = chunk_shape(shape.dtype, {});
    own.prefix_hash = shape.prefix_hash;
    return shape == own && shape.prefix_hash != kv_pool().root();  // excludes the root: that is for prefixes of prompts
}

void Model::require_unchanged() const { weights_->file().require_unchanged(); }

void Model::check_tokens(const std::vector<int32_t> & tokens) const {
    for (int32_t t : tokens) {
        if (t < 0 || t >= hparams().n_vocab) {
            throw Error("BAD_ARGUMENT", "The token " + std::to_string(t) + " is not in the model's vocabulary.");
        }
    }
}

}  // namespace kvasir
