#pragma once
// One conversation's resident KV, and the three things done with it: append (blend a prompt), generate, truncate.
// encode_chunk() is here as well: it is a short session whose KV becomes a chunk.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model.h"
#include "prompt.h"
#include "strategy.h"

namespace kvasir {

struct Progress {
    int64_t done, total;  // rows × layers
};
using ProgressFn = std::function<void(Progress)>;

// Squared L2 of fresh V − stored V (or K, as the strategy's DeviationOf says), summed over KV heads, over some tokens.
struct DeviationStats {
    int tokens = 0;  // 0: nothing to compare
    double mean = 0, p95 = 0;
};

struct LayerReport {
    int layer = 0, rows = 0;
    double load_start = 0, load_end = 0;  // ms since the append began
    size_t load_bytes = 0;
    double place_ms = 0, compute_start = 0, compute_end = 0;
    DeviationStats recomputed;  // reusable tokens that are computed in this layer and stay so
    DeviationStats stored;      // reusable tokens that were looked at and are left as stored from the next layer on
};

struct CheckReport {
    int layer = 0;
    float ratio = 0;                  // selected, as a share of all reusable tokens
    std::vector<int32_t> candidates;  // positions relative to the append
    std::vector<float> deviation;
    std::vector<int32_t> selected;
};

// What the question looked at, over the placed cache.
struct QuestionReport {
    std::vector<int> layers;
    std::vector<int32_t> candidates;  // positions relative to the append
    std::vector<float> attention;     // of each: mean over heads, layers and the question's tokens
};

struct AppendReport {
    int tokens = 0, reusable_tokens = 0, recomputed_tokens = 0;
    std::vector<int32_t> selected;  // reusable tokens computed beyond the last check: positions relative to the append
    QuestionReport question;        // without layers: there was no such pass
    size_t bytes_loaded = 0;
    std::vector<LayerReport> layers;
    std::vector<CheckReport> checks;
    double total_ms = 0, question_ms = 0, place_ms = 0, check_ms = 0, select_ms = 0, compute_ms = 0, load_wait_ms = 0, head_ms = 0;
};

// The attention that a prompt's last tokens give to every key, kept for comparing.
struct AttentionTrace {
    int observers = 0;  // 0: nothing is kept
    std::vector<std::vector<float>> layers;  // each [heads][observers][keys]
};

struct Generated {
    std::vector<int32_t> tokens;
    std::string stop;  // eos, length, aborted, context
    double ms = 0;
};

class Session {
  public:
    // At most `capacity` tokens. It takes memory as it grows, out of `pool` (default: the model's, shared by its sessions).
    Session(std::shared_ptr<Model> model, int capacity, KvPool * pool = nullptr);

    // Begins with what the pool still knows of the beginning of `tokens`: blocks that were computed exactly, as text from
    // position 0 on; never the last two tokens, since a single row would be computed by another kernel. Only for an empty
    // session. Returns the tokens it has now.
    int adopt(const std::vector<int32_t> & tokens);
    // A session that begins with the first `length` tokens of this one. Both share their blocks; what one writes, only it sees.
    std::shared_ptr<Session> fork(int length) const;
    // Takes memory for `tokens` in all, so that none can be missing later; truncate() gives back what is not used. OUT_OF_MEMORY.
    void reserve(int tokens);
    // Has the system give the memory of reserved positions [begin, end) now, rather than when an append first writes there.
    void warm(int begin, int end);

    int length() const { return length_; }
    int capacity() const { return capacity_; }
    const std::vector<float> & logits() const { return logits_; }

    // CONTEXT_OVERFLOW, CHUNK_MISMATCH, CHUNK_CORRUPT (chunk_index set), ABORTED: the session is then as before.
    // `observe`: how many tokens at the end, none of a chunk, have their attention kept in trace(); fewer where it would take
    // too much memory.
    AppendReport append(const std::vector<Segment> & segments, const StrategySpec & strategy, const std::atomic<bool> * abort,
                        const ProgressFn & progress, LoadPlan plan = {}, int observe = 0);
    // Of the last append.
    const AttentionTrace & trace() const { return trace_; }
    // on_token returns false to stop.
    Generated generate(int max_tokens, const Sampling & sampling, const std::atomic<bool> * abort,
                       const std::function<bool(int32_t)> & on_token);
    void truncate(int length);

    const Model & model() const { return *model_; }
    const KvCache & cache() const { return cache_; }

  private:
    void publish(const std::vector<int32_t> & plain);

    std::shared_ptr<Model> model_;
    int capacity_, length_ = 0;
    KvCache cache_;
    // The tokens from position 0 on whose KV follows from their ids alone, computed in passes of many rows; the keys of the
    // whole blocks among them.
    std::vector<int32_t> exact_;
    std::vector<BlockKey> keys_;
    std::vector<float> logits_;
    AttentionTrace trace_;
};

// Encodes `tokens` alone behind `prefix`, whose KV is dropped, so that the chunk's first token does not become an
// attention sink (CacheBlend's published code cuts BOS off in the same way).
std::shared_ptr<ChunkKv> encode_chunk(const std::shared_ptr<Model> & model, const std::vector<int32_t> & tokens, const std::vector<int32_t> & prefix,
                                      KvDtype dtype, const std::atomic<bool> * abort, const ProgressFn & progress);

}  // namespace kvasir
