#pragma once
// The one llama_context of a model, in which its sessions take turns: what the one before holds there is saved as
// bytes, and put back at its next turn. So a session that waits takes no more than its tokens need, and the memory
// that computing takes is there once.
//
// Thread safety: belongs to the model's thread, but for enter(), which any thread may call.
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "engine/append_report.h"
#include "engine/backend.h"
#include "engine/thread_count.h"
#include "llama.h"

namespace kvasir {

// A sequence's memory, or the part of it that cannot be cut, as bytes.
using SavedMemory = std::shared_ptr<const std::vector<uint8_t>>;

class LlamaSeat {
  public:
    LlamaSeat(llama_model * model, int threads, bool fixed_threads);

    // Whoever takes turns. It lives until it leaves.
    struct Sitter {
        SavedMemory saved;  // what it holds, while another has the seat; null: nothing, or it has the seat
    };

    // Gives it the context, with room for so many tokens, and what it held. OUT_OF_MEMORY: it then waits as before.
    void take(Sitter & sitter, int tokens);
    // A copy of what the sitter holds, null for nothing.
    SavedMemory copy(const Sitter & sitter) const;
    // Without sessions the model keeps no context.
    void enter() { ++sitters_; }
    void leave(Sitter & sitter);

    // Of the sitter that has the seat. Computes tokens at the end of what it holds, `rows` at most: logits of the last.
    // False when it was stopped: what the memory holds behind its earlier end is then undefined.
    bool compute(const int32_t * tokens, int count, const std::atomic<bool> * abort,
                 const std::function<void(double share)> & progress = nullptr);
    const float * logits() const { return llama_get_logits_ith(ctx_.get(), -1); }
    // Cuts what follows `length`; false where its memory cannot.
    bool cut(int length);
    // `wiped`: its bytes too.
    void clear(bool wiped = false);
    // What cut() needs beside it where its memory cannot be cut: the running state, or the layers that see a window.
    SavedMemory save_state() const;
    bool restore_state(const SavedMemory & state, int length);

    // Whether memory can be cut anywhere.
    bool can_cut() const { return can_cut_; }
    static constexpr int kRows = 512;  // that are computed together
    int room() const { return ctx_ ? int(llama_n_ctx(ctx_.get())) : 0; }

  private:
    void make_context(int tokens);
    SavedMemory save(unsigned flags) const;
    static bool poll(void * self);

    llama_model * model_;
    ThreadCount threads_;
    bool can_cut_;
    std::unique_ptr<llama_context, Deleter<llama_free>> ctx_;
    Sitter * seated_ = nullptr;
    std::atomic<int> sitters_ = 0;
    // Of the pass under way: who may stop it, and how far it is by the operations polled so far.
    const std::atomic<bool> * abort_ = nullptr;
    std::function<void(double)> progress_;
    int64_t polled_ = 0, polled_in_all_ = 0;
};

}  // namespace kvasir
