#pragma once
// One append: a prompt of computed segments and cached chunks, blended (CacheBlend §4 and §5).
#include "session.h"

namespace kvasir {

class Fuse {
  public:
    // The prompt stands behind `past` tokens. Checks everything that can be checked before work begins.
    Fuse(Model & model, Forward & forward, const std::vector<Segment> & segments, const StrategySpec & strategy, int past, int capacity);

    // Logits of the last token → logits.
    AppendReport run(std::vector<float> & logits, const std::atomic<bool> * abort, const ProgressFn & progress);

  private:
    bool loads_layer(int il) const { return il >= first_load_; }
    const std::pair<int, float> * check_at(int il) const;
    void load_and_place(int il, LayerLoader & loader, LayerReport & layer);
    void check(int il, float ratio, RowSet & rows, LayerReport & layer, const std::atomic<bool> * abort);
    void compute(int il, RowSet & rows, bool write_kv, LayerReport & layer, const std::atomic<bool> * abort);
    std::vector<bool> reusable_rows(const RowSet & rows) const;
    RowSet narrow(const RowSet & rows, const std::vector<int32_t> & indices, int il) const;
    double now() const;

    Model & model_;
    Forward & forward_;
    int past_;
    std::vector<int32_t> tokens_;
    std::vector<bool> reusable_;  // per token of the prompt: stands in a chunk that may be reused
    std::vector<Forward::Placement> placements_;
    std::vector<std::shared_ptr<const ChunkKv>> chunks_;
    std::vector<int> segment_of_chunk_;
    std::vector<std::pair<int, float>> checks_;  // layer, ratio
    bool compute_all_;                           // start with every token instead of only those outside chunks
    int first_load_;                             // the first layer whose stored KV is needed
    Clock::time_point origin_;
    AppendReport report_;
};

}  // namespace kvasir
