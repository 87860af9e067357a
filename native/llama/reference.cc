#include "reference.h"

#include <algorithm>

#include "engine/error.h"
#include "engine/scheduling/cores.h"

namespace kvasir {

LlamaReference::LlamaReference(const std::string & path, const ReferenceOptions & options) {
    llama_model_params mp = llama_model_default_params();
    ggml_backend_dev_t devices[2] = {nullptr, nullptr};
    if (options.device != "auto") {
        ggml_backend_dev_t dev = options.device == "cpu" ? nullptr : ggml_backend_dev_by_name(options.device.c_str());
        if (!dev && options.device != "cpu") {
            throw Error("BAD_ARGUMENT", "Unknown device: \"" + options.device + "\".",
                        "Use auto, cpu, or one that is listed.");
        }
        if (dev && ggml_backend_dev_type(dev) != GGML_BACKEND_DEVICE_TYPE_CPU) devices[0] = dev;
        mp.devices = devices;  // an empty list: only the processor
    }
    model_.reset(llama_model_load_from_file(path.c_str(), mp));
    if (!model_) throw Error("MODEL_INVALID", "llama.cpp could not load " + path + ".");
    // Before the context, which reserves room for the adapter's graph nodes.
    llama_adapter_lora * adapter =
        options.adapter.empty() ? nullptr : llama_adapter_lora_init(model_.get(), options.adapter.c_str());
    if (!options.adapter.empty() && !adapter) {
        throw Error("ADAPTER_INVALID", "llama.cpp could not load the adapter " + options.adapter + ".");
    }
    llama_context_params cp = llama_context_default_params();
    cp.n_ctx = uint32_t(options.context);
    cp.n_batch = std::max(2048u, uint32_t(options.ubatch));
    cp.n_ubatch = uint32_t(options.ubatch);
    cp.n_threads = cp.n_threads_batch = usable_threads(options.threads);
    cp.flash_attn_type = options.flash_attention ? LLAMA_FLASH_ATTN_TYPE_ENABLED : LLAMA_FLASH_ATTN_TYPE_DISABLED;
    ctx_.reset(llama_init_from_model(model_.get(), cp));
    if (!ctx_) throw Error("OUT_OF_MEMORY", "llama.cpp could not create a context for " + path + ".");
    float scale = 1;
    if (adapter) llama_set_adapters_lora(ctx_.get(), &adapter, 1, &scale);
    n_vocab_ = llama_vocab_n_tokens(llama_model_get_vocab(model_.get()));
}

std::vector<float> LlamaReference::last_logits() {
    const float * l = llama_get_logits_ith(ctx_.get(), -1);
    return {l, l + n_vocab_};
}

std::vector<float> LlamaReference::prefill(const std::vector<int32_t> & tokens) {
    std::vector<int32_t> ids = tokens;
    const size_t step = llama_n_batch(ctx_.get());
    for (size_t at = 0; at < ids.size(); at += step) {
        const auto n = int32_t(std::min(step, ids.size() - at));
        if (llama_decode(ctx_.get(), llama_batch_get_one(ids.data() + at, n)) != 0) {
            throw Error("ENGINE_FAILED", "llama_decode failed.");
        }
    }
    length_ += int(ids.size());
    return last_logits();
}

std::vector<int32_t> LlamaReference::decode_greedy(int count) {
    std::vector<int32_t> out;
    while (int(out.size()) < count) {
        const std::vector<float> l = last_logits();
        int32_t token = int32_t(std::max_element(l.begin(), l.end()) - l.begin());
        out.push_back(token);
        if (llama_decode(ctx_.get(), llama_batch_get_one(&token, 1)) != 0) {
            throw Error("ENGINE_FAILED", "llama_decode failed.");
        }
        ++length_;
    }
    return out;
}

void LlamaReference::truncate(int length) {
    llama_memory_seq_rm(llama_get_memory(ctx_.get()), 0, length, -1);
    length_ = length;
}

void LlamaReference::cut(int begin, int end) {
    require(0 <= begin && begin < end && end <= length_, "cut: the range is out of bounds");
    llama_memory_t memory = llama_get_memory(ctx_.get());
    llama_memory_seq_rm(memory, 0, begin, end);
    llama_memory_seq_add(memory, 0, end, -1, begin - end);
    length_ -= end - begin;
}

}  // namespace kvasir
