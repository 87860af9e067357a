#pragma once
// Promises over native threads: work runs on a worker in call order, results and callbacks are delivered on
// JavaScript's thread, and every C++ exception becomes a rejection with a code.
//
// Thread safety: any thread may post to a Worker; its mutex guards the queue and `stop`. A Callback is constructed on
// JavaScript's thread; any thread may call it, and one thread releases it, after the last call. Everything else here
// belongs to JavaScript's thread.
#include <napi.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <type_traits>

#include "engine/error.h"
#include "engine/scheduling/scheduler.h"

namespace kvasir::addon {

// The owner of a piece of work, and how it runs.
struct Place {
    const void * owner = nullptr;                // work of one owner runs in call order
    std::optional<Turn::Request> request = {};  // set for long work, which computes in turns with others
    bool takes_turn = false;                     // the work takes a turn itself when it needs one
};

// A single FIFO thread, until a task shares a model's Scheduler: then long work runs on separate threads, in turns,
// and short work in between. Dropping the last reference never blocks: queued work is finished, then the thread ends.
class Worker {
  public:
    Worker();
    ~Worker();
    void post(std::function<void()> task, const Place & place = {});
    // Called by a task.
    void share(std::shared_ptr<Scheduler> scheduler);
    // Ends passes, waits for the tasks that run, for a few seconds at most, and holds back all others for good: to be
    // called before the process exits, when the libraries that they use are taken down.
    static void rest();

  private:
    struct Item {
        std::function<void()> task;
        Place place;
    };
    struct State {
        std::mutex mutex;
        std::condition_variable changed;
        std::deque<Item> queue;
        std::set<const void *> busy;  // owners of running work
        std::shared_ptr<Scheduler> scheduler;
        bool stop = false;
    };
    static std::deque<Item>::iterator next(State & state);
    static bool is_free(const State & state, const void * owner);
    static void start(const std::shared_ptr<State> & state, Item item);  // long work; requires the mutex
    static void run(std::shared_ptr<State> state);
    static void run_long(std::shared_ptr<State> state, Item item);
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Workers for calls that a drive may hold up, each of which has one to itself meanwhile: others wait for none of them.
// Workers are kept for the next calls, until end_idle(). Thread safety: everything here.
class SpareWorkers : public std::enable_shared_from_this<SpareWorkers> {
  public:
    std::shared_ptr<Worker> take();
    // Ends the threads without work.
    void end_idle();
    // `work`, which gives its worker back at the end.
    template <typename Work> auto giving_back(std::shared_ptr<Worker> worker, Work work) {
        return [pool = shared_from_this(), worker = std::move(worker), work = std::move(work)] {
            const Return at_end{*pool, worker};
            return work();
        };
    }

  private:
    struct Return {
        SpareWorkers & pool;
        const std::shared_ptr<Worker> & worker;
        ~Return() {
            std::lock_guard lock(pool.mutex_);
            pool.idle_.push_back(worker);
        }
    };
    std::mutex mutex_;
    std::vector<std::shared_ptr<Worker>> idle_;
};

// The JavaScript error for the current exception, with `code` and `advice` if it is one of ours.
Napi::Error to_js_error(Napi::Env env, std::exception_ptr failure);

// Runs a synchronous body; C++ exceptions become JavaScript ones.
template <typename F> auto guarded(Napi::Env env, F body) -> decltype(body()) {
    try {
        return body();
    } catch (const Napi::Error &) {
        throw;
    } catch (...) {
        throw to_js_error(env, std::current_exception());
    }
}

// Calls a JavaScript function from any thread while a promise is pending. Empty if none was passed.
class Callback {
  public:
    using Build = std::function<Napi::Value(Napi::Env)>;
    Callback() = default;
    Callback(Napi::Env env, Napi::Value function);
    explicit operator bool() const { return bool(state_); }
    void call(Build build) const;
    void release();

  private:
    struct State {
        Napi::ThreadSafeFunction function;
        std::atomic<bool> is_released = false;
    };
    std::shared_ptr<State> state_;
};

// Runs `work` on `worker`; resolves with its result, converted by `convert`. `callbacks` are released at the end, after
// all of their calls.
template <typename Work, typename Convert>
Napi::Value run_async(Napi::Env env, const std::shared_ptr<Worker> & worker, Work work, Convert convert,
                      std::vector<Callback> callbacks = {}, const Place & place = {}) {
    using R = std::invoke_result_t<Work &>;
    struct State {
        Napi::Promise::Deferred deferred;
        Napi::ThreadSafeFunction done;
        std::function<R()> work;
        std::function<Napi::Value(Napi::Env, R &)> convert;
        std::vector<Callback> callbacks;
        std::unique_ptr<R> result;
        std::exception_ptr failure;
    };
    auto noop = Napi::Function::New(env, [](const Napi::CallbackInfo &) {});
    auto settle = Napi::ThreadSafeFunction::New(env, noop, "kvasir", 0, 1);
    auto * state = new State{Napi::Promise::Deferred::New(env), std::move(settle), std::move(work), std::move(convert),
                             std::move(callbacks), nullptr, nullptr};
    Napi::Promise promise = state->deferred.Promise();
    worker->post([state] {
        try {
            state->result = std::make_unique<R>(state->work());
        } catch (...) {
            state->failure = std::current_exception();
        }
        state->work = nullptr;  // drops native references on the worker, not on JavaScript's thread
        for (auto & c : state->callbacks) c.release();
        Napi::ThreadSafeFunction done = state->done;
        const napi_status status = done.BlockingCall(state, [](Napi::Env js, Napi::Function, State * s) {
            Napi::HandleScope scope(js);
            try {
                if (s->failure) s->deferred.Reject(to_js_error(js, s->failure).Value());
                else s->deferred.Resolve(s->convert(js, *s->result));
            } catch (const Napi::Error & e) {
                s->deferred.Reject(e.Value());
            }
            delete s;
        });
        if (status != napi_closing) done.Release();  // a call that finds it closing has released it
    }, place);
    return promise;
}

// The same for work without a result: resolves with undefined.
inline Napi::Value run_async(Napi::Env env, const std::shared_ptr<Worker> & worker, std::function<void()> work,
                             const Place & place = {}) {
    return run_async(env, worker, [work = std::move(work)] { return work(), true; },
                     [](Napi::Env e, bool) { return e.Undefined(); }, {}, place);
}

// The same on a worker that no other call waits for.
template <typename Work, typename Convert>
Napi::Value run_apart(Napi::Env env, const std::shared_ptr<SpareWorkers> & spare, Work work, Convert convert) {
    const std::shared_ptr<Worker> worker = spare->take();
    return run_async(env, worker, spare->giving_back(worker, std::move(work)), std::move(convert));
}

inline Napi::Value run_apart(Napi::Env env, const std::shared_ptr<SpareWorkers> & spare, std::function<void()> work) {
    const std::shared_ptr<Worker> worker = spare->take();
    return run_async(env, worker, spare->giving_back(worker, std::move(work)));
}

// Drops a reference on `worker`, after all work queued before.
template <typename T> void drop_on(const std::shared_ptr<Worker> & worker, std::shared_ptr<T> & object) {
    if (object) worker->post([last = std::move(object)]() mutable { last.reset(); });
    object.reset();
}

}  // namespace kvasir::addon
