#pragma once
// The only llama_context of a model, which its sessions use in turn: the previous session's memory is saved as bytes
// and restored at its next turn. So a waiting session takes only the memory of its tokens, and compute buffers exist
// once.
//
// Thread safety: belongs to the model's thread, except enter(), which any thread may call.
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "engine/devices/backend.h"
#include "engine/fusing/append_report.h"
#include "engine/scheduling/thread_count.h"
#include "llama.h"
#include "llama/beginnings.h"

namespace kvasir {

class LlamaSeat {
  public:
    LlamaSeat(llama_model * model, int threads, bool fixed_threads);

    // Gives `sitter`, the memory of a session, the context, with room for `tokens` tokens, and restores it there. It
    // must exist until it calls stand() or leave(). On OUT_OF_MEMORY it keeps waiting as before.
    void take(Beginning & sitter, int tokens);
    // A copy of the sitter's memory, null if it is empty.
    SavedMemory copy(const Beginning & sitter) const;
    // Its memory in the context is not needed any more.
    void stand(const Beginning & sitter);
    // Counts sessions: the model keeps no context without any.
    void enter() { ++sitters_; }
    void leave(const Beginning & sitter);

    // For the sitter that has the seat. Reduces its memory to its first `length` tokens, which it must reach().
    // `dirty`: an aborted pass may have written past its tokens.
    void rewind(Beginning & sitter, int length, bool dirty = false);
    // For the sitter that has the seat. Computes tokens after its existing ones, at most `rows` together; gives the
    // logits of the last one. False if aborted: memory past the previous end is then undefined.
    bool compute(const int32_t * tokens, int count, const std::atomic<bool> * abort,
                 const std::function<void(double share)> & progress = nullptr);
    const float * logits() const { return llama_get_logits_ith(ctx_.get(), -1); }
    // `wiped`: also zeroes the bytes.
    void clear(bool wiped = false);
    // The part of memory that cannot be truncated: running state, or layers with a sliding window. Null if all can.
    SavedMemory save_state() const;

    // Whether memory can be truncated anywhere.
    bool can_cut() const { return can_cut_; }
    static constexpr int kRows = 512;  // maximum rows computed together
    int room() const { return ctx_ ? int(llama_n_ctx(ctx_.get())) : 0; }

  private:
    void make_context(int tokens);
    bool cut(int length);
    SavedMemory save(unsigned flags) const;
    static bool poll(void * self);

    llama_model * model_;
    ThreadCount threads_;
    bool can_cut_;
    std::unique_ptr<llama_context, Deleter<llama_free>> ctx_;
    Beginning * seated_ = nullptr;
    std::atomic<int> sitters_ = 0;
    // Of the current pass: its abort flag, and its progress by the operations polled so far.
    const std::atomic<bool> * abort_ = nullptr;
    std::function<void(double)> progress_;
    int64_t polled_ = 0, polled_in_all_ = 0;
};

}  // namespace kvasir
