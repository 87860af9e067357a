#pragma once
// Decides which request of a model computes next. Each request runs on its own thread, but only one of them has the
// turn, and hands it over between micro-batches.
//
// Thread safety: any thread may take a turn and call any public function. State that "belongs to the model's thread"
// belongs to the thread that has the turn. A thread without a turn (a test, a tool) must be the only one of its model,
// and never pauses. One mutex guards the turns, the scheduler, its DecodeBatch and its MemoryArbiter; private functions
// require it, except mine().
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "decode_batch.h"
#include "memory_arbiter.h"

namespace kvasir {

// A request's turns, from the first, which the constructor waits for, to its end. Belongs to one thread.
class Turn {
  public:
    // Short work (truncating a session, sampling a token) goes first. Then the lowest priority: 0 is for what a person
    // waits for. Among equals the earliest deadline: arrival plus twice the expected duration, in rows computed since;
    // then arrival order. So a short question overtakes a long prompt, and nothing is overtaken forever.
    struct Request {
        bool is_short = false;
        int priority = 0;
        double rows = 0;  // estimated rows to compute
        // No other request with this flag begins before it ends: they share resources that exist once per device
        // (staging buffer).
        bool alone = false;
        // Set if the request stops on its own once this becomes true: it then waits no longer than short work. Must
        // live as long as the turn.
        const std::atomic<bool> * abort = nullptr;
    };
    static constexpr int kBackground = 2;  // from this priority on, decode steps always go first

    Turn(Scheduler & scheduler, const Request & request);
    ~Turn();
    Turn(const Turn &) = delete;

  private:
    friend class Scheduler;
    friend class DecodeBatch;
    friend class MemoryArbiter;
    bool goes_before(const Turn & other) const;
    bool wants_memory_before(const Turn & other) const;

    Scheduler & scheduler_;
    Turn * const outer_;  // the same thread's turn on another model
    const std::atomic<bool> * const abort_;
    bool is_short_, alone_;
    int priority_;
    double deadline_;
    int64_t number_;  // arrival order
    bool granted_ = false;
    bool wants_memory_ = false;
    double paused_ms_ = 0;
    std::condition_variable changed_;
};

class Scheduler {
  public:
    explicit Scheduler(DecodeBatch::DecodeFn decode) : batch_(*this, std::move(decode)), memory_(*this) {}
    DecodeBatch & batch() { return batch_; }
    MemoryArbiter & memory() { return memory_; }

    // While it exists, this thread's turn, which may be short, counts as one that computes `rows` and pauses
    // accordingly.
    class AsPrompt {
      public:
        AsPrompt(Scheduler & scheduler, double rows);
        ~AsPrompt();
        AsPrompt(const AsPrompt &) = delete;

      private:
        Turn * const turn_;
        bool was_short_ = false;
    };

    bool has_turn() const { return mine() != nullptr; }
    // Called between micro-batches: lets whoever goes first take the turn. `rows` were computed since the last call.
    void pause(double rows);
    // Gives the turn away while `wait` runs, which must not use anything that belongs to the model's thread.
    void away(const std::function<void()> & wait);
    // How long this thread's turn has waited for others.
    double paused_ms() const { return mine() ? mine()->paused_ms_ : 0; }
    // Priority of this thread's turn; 0 without one.
    int priority() const { return mine() ? mine()->priority_ : 0; }
    int64_t pauses() const { return pauses_; }

  private:
    friend class Turn;
    friend class DecodeBatch;
    friend class MemoryArbiter;
    Turn * mine() const;
    Turn * best_waiting() const;
    // Gives the turn, which is this thread's or free, to the next in line.
    void hand_over();
    // Lets `turn` go on when it is next in line.
    void ready(Turn & turn);
    // Waits until `turn` is granted. Once `abort` is set only its end is left to do, so it goes first.
    void wait(std::unique_lock<std::mutex> & lock, Turn & turn, const std::atomic<bool> * abort);

    std::mutex mutex_;
    bool taken_ = false;
    const Turn * alone_ = nullptr;  // has begun, not ended
    double computed_rows_ = 0;
    std::vector<Turn *> waiting_;  // ready, in the order in which they began to wait
    int64_t came_ = 0;             // total number of arrivals
    int turns_ = 0;                // waiting to begin, or begun
    std::atomic<int64_t> pauses_{0};
    DecodeBatch batch_;
    MemoryArbiter memory_;
};

}  // namespace kvasir
