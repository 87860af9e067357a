#pragma once
// A model that libllama runs: weights, vocabulary, and the one context that its sessions share in turn.
//
// Thread safety: as Model. One thread constructs it and uses seat() and beginnings(), and with them every LlamaSession.
// Everything else is immutable once the model is loaded, and any thread may read it.
#include "engine/gguf/gguf_file.h"
#include "engine/model.h"
#include "llama/engine_choice.h"
#include "llama/header_numbers.h"
#include "llama/llama_seat.h"

namespace kvasir {

class LlamaModel {
  public:
    // MODEL_NOT_FOUND, MODEL_INVALID, MODEL_UNSUPPORTED, OUT_OF_MEMORY, BAD_ARGUMENT (no such device). `progress` gets
    // fractions from 0 to 1.
    LlamaModel(const std::string & path, const ModelOptions & options, const std::function<void(float)> & progress);

    const GgufFile & file() const { return file_; }
    const std::string & architecture() const { return architecture_; }
    const Vocab & vocab() const { return *vocab_; }
    LlamaSeat & seat() const { return *seat_; }
    Beginnings & beginnings() { return beginnings_; }
    const SessionMemory & session_memory() const { return session_memory_; }
    int n_layer() const { return llama_model_n_layer(model_.get()); }
    size_t weight_bytes() const { return llama_model_size(model_.get()); }
    // The device of its layers.
    const std::string & device() const { return device_; }
    int threads() const { return threads_; }
    double load_ms() const { return load_ms_; }
    const Digest & fingerprint() const { return fingerprint_; }

    // As in Model: MODEL_CHANGED; BAD_ARGUMENT.
    void require_unchanged() const { file_.require_unchanged(); }
    void check_tokens(const std::vector<int32_t> & tokens) const;

  private:
    void load(const ModelOptions & options, const std::function<void(float)> & progress);

    GgufFile file_;
    std::string architecture_, device_ = "CPU";
    int threads_;
    SessionMemory session_memory_;
    Digest fingerprint_;
    double load_ms_ = 0;
    std::unique_ptr<llama_model, Deleter<llama_model_free>> model_;
    std::unique_ptr<Vocab> vocab_;
    std::unique_ptr<LlamaSeat> seat_;
    Beginnings beginnings_;
};

}  // namespace kvasir
