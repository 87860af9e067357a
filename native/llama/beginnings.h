#pragma once
// Beginnings of prompts that a model that libllama runs has in memory. A new prompt continues the one that reaches
// furthest into it, whichever session computed it. Memory that cannot be truncated (a recurrent state, sliding windows)
// is restored from a checkpoint, only at the very position where that was taken.
//
// Thread safety: the model's thread.
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

namespace kvasir {

// A sequence's memory, or the part of it that cannot be truncated, as bytes of libllama.
using SavedMemory = std::shared_ptr<const std::vector<uint8_t>>;

// A length to which a memory can return.
struct Checkpoint {
    int length;
    SavedMemory memory;         // the part that cannot be truncated; null: all of it can
    std::vector<float> logits;  // of the last token before it; empty: unknown
};

// The memory of a prompt's first tokens.
struct Beginning {
    std::vector<int32_t> tokens;
    std::vector<Checkpoint> checkpoints;  // ascending; each for a prefix of `tokens`
    SavedMemory saved;                    // null: empty, or the context holds it

    const Checkpoint * at(int length) const;
    // Tokens of `wanted` to which it can return without computing. Excludes the last one unless its logits are known.
    int reach(const std::vector<int32_t> & wanted, bool can_cut) const;
    // Adds a checkpoint behind all others. Keeps at most kCheckpoints: the first, the two latest, and others so that
    // the longest distance between two stays short.
    void add(Checkpoint checkpoint);
    size_t bytes() const;

    static constexpr size_t kCheckpoints = 8;
};

class Beginnings {
  public:
    // A session's own; must exist until leave(). Joining again does nothing.
    void join(const Beginning & live);
    void leave(const Beginning & live);
    // The one that reaches furthest into `wanted`; null: there is none. Valid until the next call.
    const Beginning * furthest(const std::vector<int32_t> & wanted, bool can_cut);
    // Keeps one that no session has any more, within the budget. Its memory must be saved.
    void keep(Beginning beginning);
    // Maximum bytes of all; sessions get what they need, and the least recently used others go first. Default: 0.
    void set_budget(size_t bytes);
    bool keeps() const { return budget_ > 0; }
    // Releases those that no session has; false if there were none.
    bool clear();
    size_t bytes() const;

  private:
    void shed();

    std::vector<const Beginning *> live_;
    std::list<Beginning> kept_;  // the most recently used first
    size_t budget_ = 0;
};

}  // namespace kvasir
