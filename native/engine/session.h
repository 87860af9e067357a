#pragma once
// One conversation's resident KV and its three operations: append (blend a prompt), generate, truncate. encode_chunks()
// is here as well: it is a short session whose KV becomes chunks.
//
// Thread safety: belongs to the model's thread, which also calls `progress` and `on_token`. Any thread may construct a
// session, read its capacity, and set `abort`.
#include <optional>

#include "any_session.h"
#include "engine/drafting/drafts.h"
#include "model.h"

namespace kvasir {

class Session : public AnySession {
  public:
    // Holds at most `capacity` tokens. Takes memory from `pool` as it grows (default: the model's, shared by its
    // sessions).
    Session(std::shared_ptr<Model> model, int capacity, KvPool * pool = nullptr);

    // Starts with the cached blocks of a prefix of `tokens`, which were computed exactly, as text from position 0.
    // Never takes the last two tokens, since a single row would be computed by another kernel. Requires an empty
    // session. Returns the number of tokens it holds now.
    int adopt(const std::vector<int32_t> & tokens) override;
    // A session that starts with the first `length` tokens of this one. The two share blocks (copy on write).
    std::shared_ptr<Session> fork(int length) const;
    std::shared_ptr<AnySession> branch(int length) const override { return fork(length); }
    // Reserves memory for `tokens` tokens in total, so that later allocations cannot fail; truncate() releases unused
    // memory. OUT_OF_MEMORY.
    void reserve(int tokens) override;
    // Makes the system provide the memory of reserved positions [begin, end) now, rather than when an append first
    // writes there.
    void warm(int begin, int end) override;
    bool uses_devices() const override;

    int length() const override { return int(tokens_.size()); }
    int capacity() const override { return capacity_; }
    const std::vector<float> & logits() const override { return logits_; }

    // CONTEXT_OVERFLOW, CHUNK_MISMATCH, CHUNK_CORRUPT and CHUNK_UNREADABLE (chunk_index set), MODEL_NUMBERS,
    // MODEL_CHANGED, ABORTED: the session is then unchanged.
    // `observe`: number of tokens at the end, none of a chunk, whose attention is kept in trace(); fewer if that would
    // take too much memory.
    AppendReport append(const std::vector<Segment> & segments, const StrategySpec & strategy,
                        const std::atomic<bool> * abort, const ProgressFn & progress, LoadOptions loading = {},
                        int observe = 0) override;
    // Of the last append.
    const AttentionTrace & trace() const { return trace_; }
    // Samples and decodes until the model ends the text, `max_tokens` is reached, `abort` is set, or on_token returns
    // false. Drafted tokens come several at a time. Needs the logits of the last append or generate; truncate() to
    // fewer tokens drops them, and so does an abort between two tokens. MODEL_NUMBERS, MODEL_CHANGED: an append must
    // precede the next call.
    Generated generate(int max_tokens, const Sampling & sampling, const std::atomic<bool> * abort,
                       const OnToken & on_token) override;
    void truncate(int length) override;

    const Model & model() const { return *model_; }
    const KvCache & cache() const { return cache_; }

  private:
    AppendReport append_once(const std::vector<Segment> & segments, const StrategySpec & strategy,
                             const std::atomic<bool> * abort, const ProgressFn & progress, LoadOptions loading,
                             int observe);
    void wait_for_memory(int end, const std::atomic<bool> * abort);
    // How to recompute the session's contents, if a single append after adopt() produced them. Valid until its answer
    // is written or the session is used otherwise.
    struct Recipe {
        std::vector<int32_t> adopted;
        std::vector<Segment> segments;
        StrategySpec strategy;
        LoadOptions loading;
        std::vector<int32_t> generated{};
        // Files of the chunks, kept open: the chunks may be evicted while the answer is written.
        std::vector<std::shared_ptr<const InputFile>> files{};

        // False if a file cannot be opened.
        bool hold_files();
    };
    void begin_steps(std::optional<Turn> & turn);
    // `most_drafts`: 0 without any.
    void step(int32_t token, Drafts & drafts, int most_drafts, const std::atomic<bool> * abort);
    void make_room_for_token();
    void give_back();
    void restore();
    void require_numbers(const std::vector<float> & logits, int end);
    void cache_full_blocks();

    std::shared_ptr<Model> model_;
    int capacity_;
    KvCache cache_;
    std::vector<int32_t> tokens_;
    // The number of tokens from position 0 whose KV depends only on their ids, computed in passes of many rows; and the
    // hashes of the whole blocks among them.
    int exact_ = 0;
    std::vector<BlockHash> hashes_;
    std::vector<float> logits_;
    AttentionTrace trace_;
    std::optional<Recipe> recipe_;
    bool given_back_ = false;
    int priority_ = 0;  // of the last append and its answer
};

// Encodes consecutive chunks in one pass, each after `prefix` and the chunks before it. The KV of `prefix` is dropped,
// so that no chunk's first token becomes an attention sink (CacheBlend's published code cuts BOS off in the same way).
// Each chunk is what it would be alone, with all that precedes it as its prefix. BAD_ARGUMENT, OUT_OF_MEMORY, ABORTED.
std::vector<std::shared_ptr<ChunkKv>> encode_chunks(const std::shared_ptr<Model> & model,
                                                    const std::vector<std::vector<int32_t>> & texts,
                                                    const std::vector<int32_t> & prefix, KvDtype dtype,
                                                    const std::atomic<bool> * abort, const ProgressFn & progress);
// The same for a single chunk.
std::shared_ptr<ChunkKv> encode_chunk(const std::shared_ptr<Model> & model, const std::vector<int32_t> & tokens,
                                      const std::vector<int32_t> & prefix, KvDtype dtype);

}  // namespace kvasir
