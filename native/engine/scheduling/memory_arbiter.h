#pragma once
// Decides who gets the memory of the KV pool when it does not suffice for all: prompts wait for others to end, the
// longest waiter first, and answers release theirs to more urgent requests, to be recomputed later.
//
// Thread safety: all but taken_back(), which any thread may call, belongs to the thread that has the turn; so does the
// call of an answer's `give_back`. The scheduler's mutex guards the state; it is free while `give_back` runs.
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

namespace kvasir {

class Scheduler;
class Turn;

class MemoryArbiter {
  public:
    explicit MemoryArbiter(Scheduler & scheduler) : scheduler_(scheduler) {}

    // Makes this turn wait for memory: others work until one of them ends. Returns false immediately if there is nobody
    // to wait for. ABORTED.
    bool wait_for_others(const std::atomic<bool> * abort);
    // Whether an earlier, no less urgent request waits for memory: the free memory is reserved for it.
    bool is_spoken_for() const;
    // Call when this turn has the memory that it waited for, or takes it.
    void has_memory();
    // Sets how this turn can release its memory until it ends; for answers, which can be written one after another.
    void may_give_back(std::function<void()> give_back);
    // Makes the least urgent answer, of these the youngest, release its memory; it may be the caller's. False if there
    // is none.
    bool take_back();
    // The same, but only for an answer that is less urgent than this turn.
    bool take_back_from_less_urgent();
    // How many answers have released their memory.
    int64_t taken_back() const { return taken_back_; }

  private:
    friend class Scheduler;
    friend class Turn;
    struct Answer {
        Turn * turn;
        std::function<void()> give_back;
    };
    // False if the turn does not wait for memory.
    bool unblock(Turn & turn) { return std::erase(blocked_, &turn) > 0; }
    // They recheck whether there is memory for them.
    void wake_blocked();
    template <class May> bool take_back_if(May may);
    void forget_answer(const Turn & turn);

    Scheduler & scheduler_;
    std::vector<Turn *> blocked_;  // until another turn ends; in the order in which they began to wait
    std::vector<Answer> answers_;  // that may give back, in the order in which they could
    std::atomic<int64_t> taken_back_{0};
};

}  // namespace kvasir
