#pragma once
// One conversation with a model that libllama runs: append, generate, truncate, as in Session, except that everything
// is computed. The common prefix with the previous prompt is not recomputed: memory is truncated if possible; otherwise
// (running state, sliding windows) it is restored from the last saved state.
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

    // Segments to compute, none of them a chunk, whatever the strategy. In an empty session, the end of the first
    // segment is saved as a state to return to. CONTEXT_OVERFLOW, BAD_ARGUMENT, MODEL_NUMBERS, MODEL_CHANGED,
    // OUT_OF_MEMORY, ABORTED: the session is then unchanged.
    AppendReport append(const std::vector<Segment> & segments, const StrategySpec & strategy,
                        const std::atomic<bool> * abort, const ProgressFn & progress, LoadOptions loading = {},
                        int observe = 0) override;
    // As Session::generate.
    Generated generate(int max_tokens, const Sampling & sampling, const std::atomic<bool> * abort,
                       const OnToken & on_token) override;
    void truncate(int length) override;
    // Sessions share only what they branched off with.
    int adopt(const std::vector<int32_t> &) override { return 0; }
    std::shared_ptr<AnySession> branch(int length) const override;
    // Takes the context, with room for `tokens` tokens.
    void reserve(int tokens) override;
    // Nothing to do: libllama writes all of a context's memory when it creates it.
    void warm(int, int) override {}
    bool uses_devices() const override { return false; }  // its model's turns are not shared

  private:
    // A point to which memory that cannot be truncated can be restored.
    struct State {
        int length;
        SavedMemory memory;
        std::vector<float> logits;  // of the last token before it; empty: unknown
    };

    int hold(const std::vector<int32_t> & wanted, int head, const std::atomic<bool> * abort,
             const ProgressFn & progress);
    const State * state_at(int length) const;
    int go_back(const std::vector<int32_t> & wanted);
    void restore(int length);
    void attempt(const std::function<void()> & pass);
    void forget();
    void keep_state(bool with_logits);
    void decode(int32_t token, const std::atomic<bool> * abort);
    void compute(const std::vector<int32_t> & wanted, int end, const std::atomic<bool> * abort,
                 const ProgressFn & progress, int begin, int total);
    std::vector<float> computed_logits();

    std::shared_ptr<LlamaModel> model_;
    int capacity_;
    std::vector<int32_t> tokens_;  // of the session
    std::vector<int32_t> held_;    // of its memory, which may be ahead of or behind the session until the next pass
    std::vector<State> states_;    // ascending; each for a prefix of held_
    std::vector<float> logits_;    // following tokens_; empty: unknown
    LlamaSeat::Sitter sitter_;
};

}  // namespace kvasir
