#include "addon/async.h"

#include <algorithm>
#include <chrono>

#include "engine/abort.h"

namespace kvasir::addon {

namespace {

constexpr std::chrono::seconds kRestPatience{2};

// The tasks that run in the process. Never freed: threads outlive static objects.
struct Running {
    std::mutex mutex;
    std::condition_variable changed;
    int count = 0;
    bool process_ends = false;
};
Running & running() {
    static auto * only = new Running;
    return *only;
}

// Runs a task and frees it, or never returns if the process ends.
void run_task(std::function<void()> & task) {
    Running & all = running();
    {
        std::unique_lock lock(all.mutex);
        all.changed.wait(lock, [&] { return !all.process_ends; });
        ++all.count;
    }
    task();
    task = nullptr;
    std::lock_guard lock(all.mutex);
    --all.count;
    all.changed.notify_all();
}

}  // namespace

void Worker::rest() {
    end_passes();
    Running & all = running();
    std::unique_lock lock(all.mutex);
    all.process_ends = true;
    all.changed.wait_for(lock, kRestPatience, [&] { return all.count == 0; });
}

Worker::Worker() { std::thread(run, state_).detach(); }

Worker::~Worker() {
    {
        std::lock_guard lock(state_->mutex);
        state_->stop = true;
    }
    state_->changed.notify_all();
}

void Worker::post(std::function<void()> task, const Place & place) {
    {
        std::lock_guard lock(state_->mutex);
        // Long work does not wait for the thread that runs short work.
        if (state_->scheduler && place.request && is_free(*state_, place.owner)) {
            return start(state_, {std::move(task), place});
        }
        state_->queue.push_back({std::move(task), place});
    }
    state_->changed.notify_one();
}

bool Worker::is_free(const State & state, const void * owner) {
    const auto waits = [&](const Item & item) { return item.place.owner == owner; };
    return !owner || (!state.busy.count(owner) && std::none_of(state.queue.begin(), state.queue.end(), waits));
}

void Worker::start(const std::shared_ptr<State> & state, Item item) {
    state->busy.insert(item.place.owner);
    std::thread(run_long, state, std::move(item)).detach();
}

void Worker::share(std::shared_ptr<Scheduler> scheduler) {
    std::lock_guard lock(state_->mutex);
    state_->scheduler = std::move(scheduler);
}

// The first item whose owner has no earlier work pending. Short work without an owner may depend on the results of all
// others, so it waits for the short work before it.
std::deque<Worker::Item>::iterator Worker::next(State & state) {
    bool short_waits = false;
    return std::find_if(state.queue.begin(), state.queue.end(), [&](const Item & item) {
        const auto & [owner, request, _] = item.place;
        if (owner ? !state.busy.count(owner) : request || !short_waits) return true;
        short_waits |= !request;
        return false;
    });
}

void Worker::run(std::shared_ptr<State> state) {
    for (;;) {
        Item item;
        std::shared_ptr<Scheduler> scheduler;
        {
            std::unique_lock lock(state->mutex);
            auto found = state->queue.end();
            state->changed.wait(lock, [&] {
                found = next(*state);
                return found != state->queue.end() || (state->stop && state->queue.empty());
            });
            if (found == state->queue.end()) return;
            item = std::move(*found);
            state->queue.erase(found);
            scheduler = state->scheduler;
            if (scheduler && item.place.request) {
                start(state, std::move(item));
                continue;
            }
            state->busy.insert(item.place.owner);
        }
        std::optional<Turn> turn;
        if (scheduler && !item.place.takes_turn) turn.emplace(*scheduler, Turn::Request{.is_short = true});
        run_task(item.task);
        std::lock_guard lock(state->mutex);
        state->busy.erase(item.place.owner);
    }
}

void Worker::run_long(std::shared_ptr<State> state, Item item) {
    {
        const std::shared_ptr<Scheduler> scheduler = state->scheduler;
        std::optional<Turn> turn;
        if (!item.place.takes_turn) turn.emplace(*scheduler, *item.place.request);
        run_task(item.task);
    }
    {
        std::lock_guard lock(state->mutex);
        state->busy.erase(item.place.owner);
    }
    state->changed.notify_one();
}

std::shared_ptr<Worker> SpareWorkers::take() {
    std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_shared<Worker>();
    std::shared_ptr<Worker> worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
}

void SpareWorkers::end_idle() {
    std::lock_guard lock(mutex_);
    idle_.clear();
}

Napi::Error to_js_error(Napi::Env env, std::exception_ptr failure) {
    const auto make = [&](const std::string & message, const std::string & code) {
        Napi::Error e = Napi::Error::New(env, message);
        e.Set("code", Napi::String::New(env, code));
        return e;
    };
    try {
        std::rethrow_exception(failure);
    } catch (const Error & e) {
        Napi::Error js = make(e.what(), e.code);
        js.Set("advice", Napi::String::New(env, e.advice));
        if (e.chunk_index >= 0) js.Set("chunkIndex", Napi::Number::New(env, e.chunk_index));
        return js;
    } catch (const std::bad_alloc &) {
        return make("There is not enough memory.", "OUT_OF_MEMORY");
    } catch (const std::exception & e) {
        return make(e.what(), "ENGINE_FAILED");
    } catch (...) {
        return make("The engine failed for an unknown reason.", "ENGINE_FAILED");
    }
}

Callback::Callback(Napi::Env env, Napi::Value function) {
    if (!function.IsFunction()) return;
    state_ = std::make_shared<State>();
    state_->function = Napi::ThreadSafeFunction::New(env, function.As<Napi::Function>(), "kvasir", 0, 1);
}

void Callback::call(Build build) const {
    if (!state_ || state_->is_released) return;
    auto * data = new Build(std::move(build));
    const napi_status status = state_->function.NonBlockingCall(data, [](Napi::Env env, Napi::Function f, Build * b) {
        std::unique_ptr<Build> own(b);
        Napi::HandleScope scope(env);
        f.Call({(*b)(env)});
    });
    if (status == napi_closing) state_->is_released = true;
    if (status != napi_ok) delete data;
}

void Callback::release() {
    if (state_ && !state_->is_released.exchange(true)) state_->function.Release();
}

}  // namespace kvasir::addon
