#pragma once
// Many at once on one model: who computes now. Each request runs on a thread of its own, but only one of them has the
// turn, and hands it over between micro-batches; tokens that several answers wait for are computed in one step, for
// which every weight is read once (continuous batching: Yu et al., Orca, OSDI '22).
//
// Thread safety: any thread may take a turn. What "belongs to the model's thread" belongs to the thread that has the
// turn. A thread without one (a test, a tool) is the only one of its model, and pauses nowhere.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "clock.h"

namespace kvasir {

class KvCache;

// One token of a sequence: its K and V are written, its logits → logits [n_vocab].
struct DecodeRow {
    int32_t token, position;
    const KvCache * cache;
    std::vector<float> * logits;
};

class Turns {
  public:
    // Computes a step for several sequences of one pool.
    using DecodeFn = std::function<void(const std::vector<DecodeRow> & rows, const std::atomic<bool> * abort)>;
    explicit Turns(DecodeFn decode) : decode_(std::move(decode)) {}

    // What is short (a session cut, a token sampled) goes first. Then the lowest priority: 0 is what a person waits
    // for. Among equals the earliest deadline: when it came, plus twice what it takes, in rows computed since; then who
    // came first. So a short question passes a long prompt, and none is passed for ever.
    struct Request {
        bool is_short = false;
        int priority = 0;
        double rows = 0;  // about how many it computes
        // No other of these begins before it ends: they share what a device has only once (its staging buffer).
        bool alone = false;
        // Of a request that ends by itself once this is set: it then waits no longer than what is short. It lives as
        // long as the turn.
        const std::atomic<bool> * abort = nullptr;
    };
    static constexpr int kBackground = 2;  // from this priority on, tokens of answers always go first
    static constexpr int kMostRows = 16;   // of a step
    // While prompts are computed, answers get a token as often as this: about twice as fast as people read.
    static constexpr double kTokenMs = 100;

    // The turn from its beginning, which waits for it, to its end.
    class Turn {
      public:
        Turn(Turns & turns, const Request & request);
        ~Turn();
        Turn(const Turn &) = delete;

      private:
        friend class Turns;
        Turns & turns_;
        Turn * const outer_;  // of this thread, on another model
        const std::atomic<bool> * const abort_;
        bool is_short_, alone_;
        int priority_;
        double deadline_;
        int64_t number_;  // as they came
        bool granted_ = false;
        std::condition_variable changed_;
        double paused_ms_ = 0;
        const DecodeRow * row_ = nullptr;  // waits for a step
        std::exception_ptr failure_;       // of the step
        bool interrupted_ = false;         // its row was taken out of a step
        bool wants_memory_ = false;
        std::function<void()> give_back_;
    };

    // While it lives this thread's turn, which may be short, is one that computes `rows`, and gives way as those do.
    class AsPrompt {
      public:
        AsPrompt(Turns & turns, double rows);
        ~AsPrompt();
        AsPrompt(const AsPrompt &) = delete;

      private:
        Turns & turns_;
        bool was_short_ = false;
    };

    bool has_turn() const { return mine() != nullptr; }
    // Between micro-batches: who goes first has the turn meanwhile. `rows`: of the model, computed since the last time.
    void pause(double rows);
    // Others have the turn while `wait` runs, which uses nothing that belongs to the model's thread.
    void away(const std::function<void()> & wait);
    // The row's step, together with all that wait for one. False: there was none, since take_back() came first.
    // ABORTED, and what the step throws.
    bool decode(const DecodeRow & row, const std::atomic<bool> * abort);

    // Has this turn wait for memory: lets others work until one of them ends. False, and at once, where there is none
    // to wait for. ABORTED.
    bool wait_for_others(const std::atomic<bool> * abort);
    // Whether one that came before and is no less urgent waits for memory: what is free is for that.
    bool memory_is_spoken_for() const;
    // This turn has the memory that it waited for, or takes it.
    void has_memory();
    // What this turn can do to give memory back until it ends; for answers, which are written after one another.
    void may_give_back(std::function<void()> give_back);
    // Has the least urgent answer, of these the youngest, give its memory back, which may be the caller's. False: none
    // can.
    bool take_back();
    // The same, but only of an answer that is less urgent than this turn.
    bool take_back_from_less_urgent();
    // How long this thread's turn has been with others.
    double paused_ms() const;
    // Of this thread's turn; 0 without one.
    int priority() const;

    struct Figures {
        int64_t steps = 0, rows = 0;  // of decoding
        int64_t pauses = 0;
        int64_t taken_back = 0;
    };
    Figures figures() const;

  private:
    Turn * mine() const;
    static bool before(const Turn & a, const Turn & b);
    static bool wants_memory_before(const Turn & a, const Turn & b);
    bool step_is_due(const Turn * next) const;
    Turn * best_waiting() const;
    void hand_over();
    void wait(std::unique_lock<std::mutex> & lock, Turn & turn);
    std::vector<Turn *> take_step(Turn & leader);
    void wake_blocked();
    Turn * last_in_line() const;
    void take_back_from(std::unique_lock<std::mutex> lock, Turn & turn);

    const DecodeFn decode_;
    mutable std::mutex mutex_;
    bool taken_ = false;
    const Turn * alone_ = nullptr;  // has begun, and not ended
    double computed_rows_ = 0;
    Clock::time_point last_step_{};
    // In the order they began to wait. Those that are blocked wait for the end of another.
    std::vector<Turn *> waiting_, decoding_, blocked_;
    int64_t came_ = 0;                   // so many in all
    int turns_ = 0;                      // waiting for their beginning, or begun
    std::vector<Turn *> may_give_back_;  // in the order they asked
    Figures figures_;
};

}  // namespace kvasir
