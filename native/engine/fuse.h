#pragma once
// One append: a prompt of computed segments and cached chunks, blended (CacheBlend §4 and §5).
#include "append_report.h"
#include "prompt.h"

namespace kvasir {

class Fuse {
  public:
    // The prompt stands behind `past` tokens. Checks everything that can be checked before work begins.
    Fuse(Model & model, const KvCache & cache, const std::vector<Segment> & segments, const StrategySpec & spec, LoadPlan plan, int past,
         int capacity);

    // Before run(): keeps what the last `count` tokens, all of them behind the last chunk, attend to.
    void observe(AttentionTrace & trace, int count);
    int tokens() const { return prompt_.size(); }
    // Those before the first chunk that is placed.
    std::vector<int32_t> plain_tokens() const;
    // Logits of the last token → logits. The cache has room for all tokens.
    AppendReport run(std::vector<float> & logits, const std::atomic<bool> * abort, const ProgressFn & progress);

  private:
    // A pass through the layers, for what all its steps share.
    struct Pass {
        LayerLoader & loader;
        const std::atomic<bool> * abort;
        const ProgressFn & progress;
        Progress done;
    };
    void look(Pass & pass);
    void place_layer(int il, Pass & pass);
    void check(int il, size_t n, RowSet & rows, Pass & pass);
    void compute(int il, RowSet & rows, bool write_kv, Pass & pass);
    void layer_done(Pass & pass, int rows, int layers_left) const;

    RowSet rows_at(const std::vector<int32_t> & tokens) const;
    RowSet on_device_of(RowSet rows, int il) const;
    RowSet narrow(const RowSet & rows, const std::vector<int32_t> & indices, int il) const;
    std::vector<bool> reusable_rows(const RowSet & rows) const;
    Candidates candidates(const RowSet * rows) const;
    std::vector<int32_t> fresh_and(const std::vector<int32_t> & reused) const;
    double now() const;

    Model & model_;
    Forward & forward_;
    const KvCache & cache_;
    std::unique_ptr<Strategy> strategy_;
    Prompt prompt_;
    LoadPlan plan_;
    std::vector<int> check_layers_;
    int first_load_;      // the first layer whose stored KV is needed
    int next_place_ = 0;  // layers below are placed, or need not be
    Clock::time_point origin_;
    AppendReport report_;
    AttentionTrace * trace_ = nullptr;
};

}  // namespace kvasir
