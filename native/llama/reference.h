#pragma once
// llama.cpp's inference, for parity tests and benches.
//
// Thread safety: one thread at a time.
#include <memory>
#include <string>
#include <vector>

#include "engine/devices/backend.h"
#include "llama.h"

namespace kvasir {

struct ReferenceOptions {
    int context = 0, threads = 0, ubatch = 512;
    bool flash_attention = true;
    std::string device = "auto";  // "auto", "cpu" or a ggml device name: all layers there
    std::string adapter = "";     // file of a LoRA adapter; "": none
};

class LlamaReference {
  public:
    // MODEL_INVALID, ADAPTER_INVALID, OUT_OF_MEMORY, BAD_ARGUMENT (no such device).
    LlamaReference(const std::string & path, const ReferenceOptions & options);
    // Logits of the last token, [n_vocab]. Positions continue after the existing ones.
    std::vector<float> prefill(const std::vector<int32_t> & tokens);
    std::vector<int32_t> decode_greedy(int count);
    void truncate(int length);
    // Removes positions begin … end − 1 and moves the rest to the left, as llama-server's cache reuse does: stored keys
    // are rotated (K-shift) at the next decode, nothing is recomputed.
    void cut(int begin, int end);

  private:
    std::vector<float> last_logits();
    int n_vocab_ = 0, length_ = 0;
    std::unique_ptr<llama_model, Deleter<llama_model_free>> model_;
    std::unique_ptr<llama_context, Deleter<llama_free>> ctx_;
};

}  // namespace kvasir
