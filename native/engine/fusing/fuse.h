#pragma once
// One append: a prompt of computed segments and cached chunks, blended (CacheBlend §4 and §5).
//
// Thread safety: belongs to the model's thread, on which `progress` is called. Any thread may set `abort`.
#include "append_report.h"
#include "engine/chunks/device_tier.h"
#include "prompt.h"

namespace kvasir {

class Fuse {
  public:
    // The prompt follows `past` tokens. Checks everything that can be checked before work begins. CHUNK_MISMATCH,
    // CONTEXT_OVERFLOW, BAD_ARGUMENT.
    Fuse(Model & model, const KvCache & cache, const std::vector<Segment> & segments, const StrategySpec & spec,
         LoadOptions loading, int past, int capacity);

    // Call before run(): records the attention of the last `count` tokens, all of which must follow the last chunk.
    void observe(AttentionTrace & trace, int count);
    const Prompt & prompt() const { return prompt_; }
    // Logits of the last token → logits [n_vocab]. The cache must have room for all tokens. CHUNK_CORRUPT, the error of
    // a chunk that failed to arrive, OUT_OF_MEMORY, ABORTED.
    AppendReport run(std::vector<float> & logits, const std::atomic<bool> * abort, const ProgressFn & progress);

  private:
    // State shared by all steps of a run through the layers.
    struct Pass {
        LayerLoader & loader;
        const std::atomic<bool> * abort;
        const ProgressFn & progress;
        Progress done;
    };
    void question_pass(Pass & pass);
    std::vector<LayerLoader::Wanted> wanted();
    void place_layer(int il, Pass & pass);
    void check(int il, size_t n, Batch & batch, Pass & pass);
    void compute(int il, Batch & batch, bool write_kv, Pass & pass);
    void keep_stored(const std::vector<int32_t> & reusable);
    void write_and_shift(int il, Batch & batch, LayerCall & call, Pass & pass);
    void layer_done(Pass & pass, int rows, int layers_left) const;

    Batch batch_of(const std::vector<int32_t> & tokens) const;
    Batch on_device_of(Batch batch, int il) const;
    Batch narrow(const Batch & batch, const std::vector<int32_t> & indices, int il) const;
    std::vector<bool> reusable_rows(const Batch & batch) const;
    Candidates candidates(const Batch * batch) const;
    std::vector<int32_t> tokens_to_compute(const std::vector<int32_t> & computed_again, int first) const;
    int first_after_question_pass(bool all) const;
    double now() const;

    Model & model_;
    Forward & forward_;
    const KvCache & cache_;
    std::unique_ptr<Strategy> strategy_;
    Prompt prompt_;
    LoadOptions loading_;
    float shift_;
    std::vector<std::shared_ptr<DeviceTier::Chunk>> kept_;  // per chunk of the prompt
    std::vector<int> check_layers_;
    // Positions of the tokens whose stored KV shifts, and the block of the prompt that each is in.
    std::vector<int32_t> stored_, block_of_stored_;
    int first_load_;      // the first layer whose stored KV is needed
    int next_place_ = 0;  // all lower layers are placed or do not need it
    Clock::time_point origin_;
    double paused_before_;
    AppendReport report_;
    AttentionTrace * trace_ = nullptr;
};

}  // namespace kvasir
