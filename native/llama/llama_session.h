#pragma once
// One conversation with a model that libllama runs: append, generate, truncate, as in Session, except that everything
// is computed. The common prefix with the previous prompt is not recomputed: memory is truncated if possible; otherwise
// (running state, sliding windows) it is restored from the last checkpoint in that prefix.
//
// Thread safety: as Session.
#include "engine/any_session.h"
#include "llama/llama_model.h"

namespace kvasir {

class LlamaSession : public AnySession {
  public:
    LlamaSession(std::shared_ptr<LlamaModel> model, int capacity);
    ~LlamaSession() override;
    LlamaSession(const LlamaSession &) = delete;
    LlamaSession & operator=(const LlamaSession &) = delete;

    int length() const override { return int(tokens_.size()); }
    int capacity() const override { return capacity_; }
    const std::vector<float> & logits() const override { return logits_; }

    // Segments to compute, none of them a chunk, whatever the strategy. Some of their ends become checkpoints: the
    // first of a prompt, the last one before its end, and between them one in at least LlamaSeat::kRows tokens.
    // CONTEXT_OVERFLOW, BAD_ARGUMENT, MODEL_NUMBERS, MODEL_CHANGED, OUT_OF_MEMORY, ABORTED: the session is then
    // unchanged.
    AppendReport append(const std::vector<Segment> & segments, const StrategySpec & strategy,
                        const std::atomic<bool> * abort, const ProgressFn & progress, LoadOptions loading = {},
                        int observe = 0) override;
    // As Session::generate.
    Generated generate(int max_tokens, const Sampling & sampling, const std::atomic<bool> * abort,
                       const OnToken & on_token) override;
    void truncate(int length) override;
    // Continues the beginning of `tokens` that any session computed and that reaches furthest, or its own; the session
    // then holds that, except that at least two tokens are left to append.
    int adopt(const std::vector<int32_t> & tokens) override;
    std::shared_ptr<AnySession> branch(int length) const override;
    // Takes the context, with room for `tokens` tokens.
    void reserve(int tokens) override;
    // Nothing to do: libllama writes all of a context's memory when it creates it.
    void warm(int, int) override {}
    bool uses_devices() const override { return false; }  // its model's turns are not shared

  private:
    void take(int tokens);
    int hold(const std::vector<int32_t> & wanted, const std::vector<int> & ends, const std::atomic<bool> * abort,
             const ProgressFn & progress);
    void attempt(const std::function<void()> & pass);
    void forget();
    void keep_checkpoint(bool with_logits);
    void decode(int32_t token, const std::atomic<bool> * abort);
    void compute(const std::vector<int32_t> & wanted, int end, const std::atomic<bool> * abort,
                 const ProgressFn & progress, int begin, int total);
    std::vector<float> computed_logits();

    std::shared_ptr<LlamaModel> model_;
    int capacity_;
    std::vector<int32_t> tokens_;  // of the session
    Beginning memory_;             // may be ahead of or behind the session until the next pass
    std::vector<float> logits_;    // following tokens_; empty: unknown
};

}  // namespace kvasir
