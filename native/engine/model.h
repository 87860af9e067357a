#pragma once
// A loaded model: weights on their devices, vocabulary, and what sessions and chunks of it share.
#include <functional>
#include <memory>
#include <mutex>

#include "chunk_kv.h"
#include "forward.h"
#include "kv_pool.h"
#include "vocab.h"
#include "weights.h"

namespace kvasir {

struct ModelOptions {
    int threads = 0;             // 0: one per physical core
    std::string device = "auto";  // "auto", "cpu" or a ggml device name
    KvDtype kv = KvDtype::f16;    // of the resident KV; q8_0 only for heads of a multiple of 32, else f16 is used
};

class Model {
  public:
    Model(const std::string & path, const ModelOptions & options, const std::function<void(float)> & progress);

    const Weights & weights() const { return *weights_; }
    const Hparams & hparams() const { return weights_->hparams(); }
    const Vocab & vocab() const { return *vocab_; }
    // Of all sessions; to be used on one thread.
    Forward & forward() const { return *forward_; }
    KvPool & kv_pool() const { return *kv_pool_; }
    int threads() const { return threads_; }
    double load_ms() const { return load_ms_; }
    const Digest & fingerprint() const { return fingerprint_; }
    std::string fingerprint_hex() const;

    ChunkShape chunk_shape(KvDtype dtype, const std::vector<int32_t> & prefix) const;
    // MODEL_INVALID-proof use of ids from outside: throws BAD_ARGUMENT for one beyond the vocabulary.
    void check_tokens(const std::vector<int32_t> & tokens) const;

  private:
    int threads_;
    std::vector<std::unique_ptr<Compute>> devices_;  // the CPU first
    std::unique_ptr<Weights> weights_;
    std::unique_ptr<Vocab> vocab_;
    std::unique_ptr<Forward> forward_;
    std::unique_ptr<KvPool> kv_pool_;
    Digest fingerprint_;
    double load_ms_ = 0;
};

}  // namespace kvasir
