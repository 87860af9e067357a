#include "addon/async.h"

namespace kvasir::addon {

Worker::Worker() { std::thread(run, state_).detach(); }

Worker::~Worker() {
    {
        std::lock_guard lock(state_->mutex);
        state_->stop = true;
    }
    state_->changed.notify_all();
}

void Worker::post(std::function<void()> task) {
    {
        std::lock_guard lock(state_->mutex);
        state_->queue.push_back(std::move(task));
    }
    state_->changed.notify_one();
}

void Worker::run(std::shared_ptr<State> state) {
    for (;;) {
        std::function<void()> task;
        {
            std::unique_lock lock(state->mutex);
            state->changed.wait(lock, [&] { return state->stop || !state->queue.empty(); });
            if (state->queue.empty()) return;
            task = std::move(state->queue.front());
            state->queue.pop_front();
        }
        task();
    }
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
    state_ = std::make_shared<State>(
        State{Napi::ThreadSafeFunction::New(env, function.As<Napi::Function>(), "kvasir", 0, 1)});
}

void Callback::call(Build build) const {
    if (!state_) return;
    auto * data = new Build(std::move(build));
    const napi_status status = state_->function.NonBlockingCall(data, [](Napi::Env env, Napi::Function f, Build * b) {
        std::unique_ptr<Build> own(b);
        Napi::HandleScope scope(env);
        f.Call({(*b)(env)});
    });
    if (status != napi_ok) delete data;
}

void Callback::release() {
    if (state_) state_->function.Release();
}

}  // namespace kvasir::addon
