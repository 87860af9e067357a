#pragma once
// Schedules concurrent requests on one model. Each request runs on its own thread, but only one of them has the turn,
// and hands it over between micro-batches. Tokens that several answers wait for are computed in one step, which reads
// every weight once (continuous batching: Yu et al., Orca, OSDI '22).
//
// Thread safety: any thread may take a turn. State that "belongs to the model's thread" belongs to the thread that has
// the turn. A thread without a turn (a test, a tool) must be the only one of its model, and never pauses.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "engine/clock.h"

namespace kvasir {

class KvCache;

// One token of a sequence: its K and V are written, its logits go to `logits` [n_vocab].
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
    static constexpr int kMostRows = 16;   // per step
    // While prompts are computed, answers get a token at this interval: about twice reading speed.
    static constexpr double kTokenMs = 100;

    // A turn from its beginning, which the constructor waits for, to its end.
    class Turn {
      public:
        Turn(Turns & turns, const Request & request);
        ~Turn();
        Turn(const Turn &) = delete;

      private:
        friend class Turns;
        Turns & turns_;
        Turn * const outer_;  // the same thread's turn on another model
        const std::atomic<bool> * const abort_;
        bool is_short_, alone_;
        int priority_;
        double deadline_;
        int64_t number_;  // arrival order
        bool granted_ = false;
        std::condition_variable changed_;
        double paused_ms_ = 0;
        const DecodeRow * row_ = nullptr;  // waiting for a step
        std::exception_ptr failure_;       // of the step
        bool interrupted_ = false;         // its row was removed from a step
        bool wants_memory_ = false;
        std::function<void()> give_back_;
    };

    // While it exists, this thread's turn, which may be short, counts as one that computes `rows` and pauses
    // accordingly.
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
    // Called between micro-batches: lets whoever goes first take the turn. `rows` were computed since the last call.
    void pause(double rows);
    // Gives the turn away while `wait` runs, which must not use anything that belongs to the model's thread.
    void away(const std::function<void()> & wait);
    // Computes the row's step, together with all rows waiting for one. False if it was not computed, since take_back()
    // came first. ABORTED, and what the step throws.
    bool decode(const DecodeRow & row, const std::atomic<bool> * abort);

    // Makes this turn wait for memory: others work until one of them ends. Returns false immediately if there is nobody
    // to wait for. ABORTED.
    bool wait_for_others(const std::atomic<bool> * abort);
    // Whether an earlier, no less urgent request waits for memory: the free memory is reserved for it.
    bool memory_is_spoken_for() const;
    // Call when this turn has the memory that it waited for, or takes it.
    void has_memory();
    // Sets how this turn can release its memory until it ends; for answers, which can be written one after another.
    void may_give_back(std::function<void()> give_back);
    // Makes the least urgent answer, of these the youngest, release its memory; it may be the caller's. False if there
    // is none.
    bool take_back();
    // The same, but only for an answer that is less urgent than this turn.
    bool take_back_from_less_urgent();
    // How long other turns have interrupted this thread's turn.
    double paused_ms() const;
    // Priority of this thread's turn; 0 without one.
    int priority() const;

    struct Figures {
        int64_t steps = 0, rows = 0;  // decode steps and their rows
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
    const Turn * alone_ = nullptr;  // has begun, not ended
    double computed_rows_ = 0;
    Clock::time_point last_step_{};
    // In the order in which they began to wait. blocked_ waits for another turn to end.
    std::vector<Turn *> waiting_, decoding_, blocked_;
    int64_t came_ = 0;                   // total number of arrivals
    int turns_ = 0;                      // waiting to begin, or begun
    std::vector<Turn *> may_give_back_;  // in request order
    Figures figures_;
};

}  // namespace kvasir
