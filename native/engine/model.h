#pragma once
// A loaded model: weights on their devices, vocabulary, and what sessions and chunks of it share.
//
// Thread safety: "the model's thread" is the one that has the turn (turns.h): it uses forward(), both pools, the device
// tier, and with them every Session, KvCache, Batch and Fuse; after the last turn any may destroy it. Everything else
// here does not change once the model is loaded: any thread may read it at any time, vocab() too.
#include <functional>
#include <memory>

#include "chunk_kv.h"
#include "device_tier.h"
#include "forward.h"
#include "kv_pool.h"
#include "turns.h"
#include "vocab.h"
#include "weights.h"

namespace kvasir {

struct ModelOptions {
    int threads = 0;              // 0: one per physical core; never more than there are cores for us
    std::string device = "auto";  // "auto", "cpu" or a ggml device name
    KvDtype kv = KvDtype::f16;    // of the resident KV; q8_0 only for heads of a multiple of 32, else f16 is used
    std::string adapter = "";     // file of a LoRA adapter that changes the model; "": none
};

class Model {
  public:
    // MODEL_NOT_FOUND, MODEL_INVALID, MODEL_UNSUPPORTED, OUT_OF_MEMORY, BAD_ARGUMENT (no such device), ADAPTER_INVALID,
    // ADAPTER_MISMATCH, ADAPTER_UNSUPPORTED. `progress` gets fractions from 0 to 1.
    Model(const std::string & path, const ModelOptions & options, const std::function<void(float)> & progress);

    const Weights & weights() const { return *weights_; }
    const Hparams & hparams() const { return weights_->hparams(); }
    const Vocab & vocab() const { return *vocab_; }
    // Of all sessions.
    Forward & forward() const { return *forward_; }
    KvPool & kv_pool() const { return *kv_pool_; }
    // Of chunks that are encoded: apart from the sessions', since chunks do not depend on their number format.
    KvPool & chunk_pool() const { return *chunk_pool_; }
    // What stays on the device of stored chunks.
    DeviceTier & device_tier() const { return *device_tier_; }
    // Who uses all of these now.
    const std::shared_ptr<Turns> & turns() const { return turns_; }
    int threads() const { return threads_; }
    double load_ms() const { return load_ms_; }
    // Of the model with its adapter: KV that either changes is neither the other's nor that of the model alone.
    const Digest & fingerprint() const { return fingerprint_; }
    std::string fingerprint_hex() const;

    ChunkShape chunk_shape(KvDtype dtype, const std::vector<int32_t> & prefix) const;
    // Whether this model encodes chunks of that shape, behind whatever prefix.
    bool encodes(const ChunkShape & shape) const;
    // Before weights are read: a mapped file that was cut would end the process, one that was written to would give
    // nonsense. What happens to it during a pass is not noticed. MODEL_CHANGED.
    void require_unchanged() const;
    // Ids from outside are not trusted: BAD_ARGUMENT for one beyond the vocabulary.
    void check_tokens(const std::vector<int32_t> & tokens) const;

  private:
    int threads_;
    std::vector<std::unique_ptr<Device>> devices_;  // the CPU first
    std::unique_ptr<Weights> weights_;
    std::unique_ptr<Vocab> vocab_;
    std::unique_ptr<Forward> forward_;
    std::unique_ptr<KvPool> kv_pool_, chunk_pool_;
    std::unique_ptr<DeviceTier> device_tier_;
    std::shared_ptr<Turns> turns_;
    Digest fingerprint_;
    double load_ms_ = 0;
};

}  // namespace kvasir
