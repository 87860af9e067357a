#pragma once
// A loaded model: weights on their devices, vocabulary, and the state shared by its sessions and chunks.
//
// Thread safety: "the model's thread" is the one that has the turn (scheduler.h). It uses forward(), both pools, the
// device tier, and with them every Session, KvCache, Batch and Fuse; after the last turn any thread may destroy the
// model.
// Everything else here is immutable once the model is loaded: any thread may read it at any time, including vocab().
#include <functional>
#include <memory>

#include "engine/chunks/chunk_kv.h"
#include "engine/chunks/device_tier.h"
#include "engine/gguf/vocab.h"
#include "engine/gguf/weights.h"
#include "engine/graph/forward.h"
#include "engine/kv/kv_pool.h"
#include "engine/scheduling/scheduler.h"

namespace kvasir {

struct ModelOptions {
    int threads = 0;              // 0: one per physical core; never more than the cores available
    std::string device = "auto";  // "auto", "cpu" or a ggml device name
    KvDtype kv = KvDtype::f16;    // of the resident KV; q8_0 only if head sizes are multiples of 32, else f16
    std::string adapter = "";     // path of a LoRA adapter that modifies the model; "": none
};

class Model {
  public:
    // MODEL_NOT_FOUND, MODEL_INVALID, MODEL_UNSUPPORTED, OUT_OF_MEMORY, BAD_ARGUMENT (no such device), ADAPTER_INVALID,
    // ADAPTER_MISMATCH, ADAPTER_UNSUPPORTED. `progress` gets fractions from 0 to 1.
    Model(const std::string & path, const ModelOptions & options, const std::function<void(float)> & progress);

    const Weights & weights() const { return *weights_; }
    const Hparams & hparams() const { return weights_->hparams(); }
    const Vocab & vocab() const { return *vocab_; }
    // Shared by all sessions.
    Forward & forward() const { return *forward_; }
    KvPool & kv_pool() const { return *kv_pool_; }
    // For encoding chunks; separate from the sessions' pool, since chunks do not depend on its number format.
    KvPool & chunk_pool() const { return *chunk_pool_; }
    // Stored chunks kept on the device.
    DeviceTier & device_tier() const { return *device_tier_; }
    // Schedules the use of all of these.
    const std::shared_ptr<Scheduler> & scheduler() const { return scheduler_; }
    int threads() const { return threads_; }
    double load_ms() const { return load_ms_; }
    // Of the model with its adapter: KV is not interchangeable between adapters, nor with the plain model's.
    const Digest & fingerprint() const { return fingerprint_; }
    std::string fingerprint_hex() const;

    ChunkShape chunk_shape(KvDtype dtype, const std::vector<int32_t> & prefix) const;
    // Whether this model encodes chunks of that shape, with any prefix.
    bool encodes(const ChunkShape & shape) const;
    // Called before weights are read: reading a truncated mapping would kill the process, and a modified file would
    // give nonsense. Changes during a pass are not detected. MODEL_CHANGED.
    void require_unchanged() const;
    // Ids from outside are not trusted: BAD_ARGUMENT for ids outside the vocabulary.
    void check_tokens(const std::vector<int32_t> & tokens) const;

  private:
    int threads_;
    std::vector<std::unique_ptr<Device>> devices_;  // the CPU is first
    std::unique_ptr<Weights> weights_;
    std::unique_ptr<Vocab> vocab_;
    std::unique_ptr<Forward> forward_;
    std::unique_ptr<KvPool> kv_pool_, chunk_pool_;
    std::unique_ptr<DeviceTier> device_tier_;
    std::shared_ptr<Scheduler> scheduler_;
    Digest fingerprint_;
    double load_ms_ = 0;
};

}  // namespace kvasir
