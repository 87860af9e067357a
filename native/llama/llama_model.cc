#include "llama_model.h"

#include "engine/clock.h"
#include "engine/error.h"
#include "engine/scheduling/cores.h"

namespace kvasir {

LlamaModel::LlamaModel(const std::string & path, const ModelOptions & options,
                       const std::function<void(float)> & progress)
    : file_(path), threads_(usable_threads(options.threads)) {
    const auto start = Clock::now();
    const EngineChoice choice = choose_engine(file_);
    if (choice.kind == EngineKind::none) {
        throw Error("MODEL_UNSUPPORTED", "The model " + path + " cannot be used for chat. " + choice.refusal,
                    "Choose another model.");
    }
    architecture_ = file_.string("general.architecture").value_or("");
    session_memory_ = kvasir::session_memory(file_, architecture_);
    load(options, progress);
    vocab_ = std::make_unique<Vocab>(llama_model_get_vocab(model_.get()), path);
    fingerprint_ = file_.fingerprint();
    seat_ = std::make_unique<LlamaSeat>(model_.get(), threads_, options.threads > 0);
    load_ms_ = ms_since(start);
}

void LlamaModel::load(const ModelOptions & options, const std::function<void(float)> & progress) {
    llama_model_params params = llama_model_default_params();
    params.use_extra_bufts = !has_faulty_layout();
    ggml_backend_dev_t devices[2] = {nullptr, nullptr};
    if (options.device == "cpu") {
        params.devices = devices;  // an empty list: only the processor
        params.n_gpu_layers = 0;
    } else if (options.device != "auto") {
        devices[0] = ggml_backend_dev_by_name(options.device.c_str());
        if (!devices[0]) {
            throw Error("BAD_ARGUMENT", "Unknown device: \"" + options.device + "\".",
                        "Use auto, cpu, or one that is listed.");
        }
        device_ = options.device;
        if (ggml_backend_dev_type(devices[0]) == GGML_BACKEND_DEVICE_TYPE_CPU) devices[0] = nullptr;
        params.devices = devices;
    } else if (ggml_backend_dev_t gpu = ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_GPU)) {
        device_ = ggml_backend_dev_name(gpu);
    }
    params.progress_callback = [](float fraction, void * told) {
        const auto & tell = *static_cast<const std::function<void(float)> *>(told);
        if (tell) tell(fraction);
        return true;
    };
    params.progress_callback_user_data = const_cast<std::function<void(float)> *>(&progress);
    model_.reset(llama_model_load_from_file(file_.path().c_str(), params));
    if (!model_) {
        throw Error("MODEL_INVALID",
                    "The weights of " + file_.path() +
                        " could not be loaded: one is missing or of a wrong shape, or memory ran out.",
                    "The file may be damaged; download it again, or close other programs.");
    }
    file_.watch_other_mappings();
}

void LlamaModel::check_tokens(const std::vector<int32_t> & tokens) const {
    for (int32_t t : tokens) {
        if (t < 0 || t >= vocab_->size()) {
            throw Error("BAD_ARGUMENT", "The token " + std::to_string(t) + " is not in the model's vocabulary.");
        }
    }
}

}  // namespace kvasir
