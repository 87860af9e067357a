#include "addon/convert.h"
#include "addon/llama_objects.h"

namespace kvasir::addon {

// As of SessionObject.
struct LlamaSessionObject::State {
    std::shared_ptr<LlamaSession> session;
    int capacity = 0;
    std::atomic<int> length{0};
    std::vector<float> logits;  // set on JavaScript's thread
};

namespace {
struct Finished {
    std::vector<float> logits;
    AppendReport report;
    Generated generated;
};
}  // namespace

Napi::Function LlamaSessionObject::define(Napi::Env env) {
    return DefineClass(
        env, "LlamaSession",
        {InstanceAccessor<&LlamaSessionObject::length>("length"),
         InstanceAccessor<&LlamaSessionObject::capacity>("capacity"),
         InstanceMethod<&LlamaSessionObject::append>("append"), InstanceMethod<&LlamaSessionObject::logits>("logits"),
         InstanceMethod<&LlamaSessionObject::generate>("generate"),
         InstanceMethod<&LlamaSessionObject::truncate>("truncate"),
         InstanceMethod<&LlamaSessionObject::adopt>("adopt"), InstanceMethod<&LlamaSessionObject::fork>("fork"),
         InstanceMethod<&LlamaSessionObject::reserve>("reserve"), InstanceMethod<&LlamaSessionObject::warm>("warm"),
         InstanceMethod<&LlamaSessionObject::deviation_from>("deviationFrom"),
         InstanceMethod<&LlamaSessionObject::dispose>("dispose")});
}

Napi::Object LlamaSessionObject::create(Napi::Env env, LlamaHandle handle, std::shared_ptr<LlamaSession> session) {
    Napi::Object o = env.GetInstanceData<Instance>()->llama_session.New({});
    LlamaSessionObject * self = Unwrap(o);
    self->state_ = std::make_shared<State>();
    self->state_->capacity = session->capacity();
    self->state_->length = session->length();
    // The last owner may be JavaScript's garbage collector.
    LlamaSession * raw = session.get();
    self->state_->session = {raw, [worker = handle.worker, session = std::move(session)](LlamaSession *) mutable {
        worker->post([last = std::move(session)]() mutable { last.reset(); });
    }};
    self->handle_ = std::move(handle);
    return o;
}

std::shared_ptr<LlamaSessionObject::State> LlamaSessionObject::state(Napi::Env env) const {
    if (!state_) throw Napi::Error::New(env, "the session is disposed");
    return state_;
}

Napi::Value LlamaSessionObject::length(const Napi::CallbackInfo & info) {
    return Napi::Number::New(info.Env(), state(info.Env())->length);
}
Napi::Value LlamaSessionObject::capacity(const Napi::CallbackInfo & info) {
    return Napi::Number::New(info.Env(), state(info.Env())->capacity);
}

Napi::Value LlamaSessionObject::append(const Napi::CallbackInfo & info) {
    Napi::Env env = info.Env();
    auto s = state(env);
    if (!info[0].IsArray()) throw Napi::TypeError::New(env, "segments must be an array");
    auto list = info[0].As<Napi::Array>();
    std::vector<std::vector<int32_t>> texts;
    for (uint32_t i = 0; i < list.Length(); ++i) {
        if (!list.Get(i).IsObject()) throw Napi::TypeError::New(env, "a segment must be an object");
        Napi::Object o = list.Get(i).As<Napi::Object>();
        if (string_from(o.Get("kind"), "segment.kind") != "compute") {
            throw Napi::TypeError::New(env, "segment.kind must be compute: libllama places no chunks");
        }
        texts.push_back(tokens_from(o.Get("tokens"), "segment.tokens"));
    }
    const auto abort = AbortObject::from(info[2]);
    Callback callback(env, info[3]);
    std::function<Finished()> work = [=] {
        Finished f;
        f.report = s->session->append(texts, abort.get(), throttled(callback));
        f.logits = s->session->logits();
        s->length = s->session->length();
        return f;
    };
    return run_async<Finished>(env, handle_.worker, work, [s](Napi::Env e, Finished & f) {
        s->logits = std::move(f.logits);
        return report_to(e, f.report);
    }, {callback});
}

Napi::Value LlamaSessionObject::logits(const Napi::CallbackInfo & info) {
    return floats_to(info.Env(), state(info.Env())->logits);
}

Napi::Value LlamaSessionObject::generate(const Napi::CallbackInfo & info) {
    Napi::Env env = info.Env();
    auto s = state(env);
    const int max_tokens = int_from(info[0], "maxTokens");
    const Sampling sampling = sampling_from(info[1]);
    const auto abort = AbortObject::from(info[2]);
    Callback callback(env, info[3]);
    std::function<Finished()> work = [=] {
        Finished f;
        const auto on_token = [&](int32_t token) {
            callback.call([token](Napi::Env e) { return Napi::Number::New(e, token); });
            return true;
        };
        f.generated = s->session->generate(max_tokens, sampling, abort.get(), on_token);
        f.logits = s->session->logits();
        s->length = s->session->length();
        return f;
    };
    return run_async<Finished>(env, handle_.worker, work, [s](Napi::Env e, Finished & f) {
        s->logits = std::move(f.logits);
        Napi::Object o = Napi::Object::New(e);
        o.Set("tokens", tokens_to(e, f.generated.tokens));
        o.Set("stop", f.generated.stop);
        o.Set("ms", f.generated.ms);
        return o;
    }, {callback});
}

Napi::Value LlamaSessionObject::truncate(const Napi::CallbackInfo & info) {
    auto s = state(info.Env());
    const int n = int_from(info[0], "length");
    if (n < 0 || n > s->length) {
        throw Napi::RangeError::New(info.Env(), "length must be between 0 and the session's length");
    }
    if (n < s->length) s->logits.clear();
    s->length = n;
    handle_.worker->post([s, n] { s->session->truncate(std::min(n, s->session->length())); });
    return info.Env().Undefined();
}

// Sessions share nothing but what they were forked from.
Napi::Value LlamaSessionObject::adopt(const Napi::CallbackInfo & info) {
    state(info.Env());
    tokens_from(info[0], "tokens");
    return run_async<int>(info.Env(), handle_.worker, [] { return 0; },
                          [](Napi::Env e, int & taken) { return Napi::Number::New(e, taken); });
}

Napi::Value LlamaSessionObject::fork(const Napi::CallbackInfo & info) {
    Napi::Env env = info.Env();
    auto s = state(env);
    const int length = int_from(info[0], "length");
    using R = std::shared_ptr<LlamaSession>;
    std::function<R()> work = [=] { return s->session->fork(length); };
    return run_async<R>(env, handle_.worker, work,
                        [handle = handle_](Napi::Env e, R & session) { return create(e, handle, std::move(session)); });
}

Napi::Value LlamaSessionObject::reserve(const Napi::CallbackInfo & info) {
    Napi::Env env = info.Env();
    auto s = state(env);
    const int tokens = int_from(info[0], "tokens");
    std::function<int()> work = [=] { return s->session->reserve(tokens), 0; };
    return run_async<int>(env, handle_.worker, work, [](Napi::Env e, int &) { return e.Undefined(); });
}

// libllama writes all of a context's memory when it makes it.
Napi::Value LlamaSessionObject::warm(const Napi::CallbackInfo & info) {
    state(info.Env());
    return run_async<int>(info.Env(), handle_.worker, [] { return 0; },
                          [](Napi::Env e, int &) { return e.Undefined(); });
}

Napi::Value LlamaSessionObject::deviation_from(const Napi::CallbackInfo & info) {
    throw Napi::TypeError::New(info.Env(), "the KV of a model that libllama runs cannot be compared");
}

Napi::Value LlamaSessionObject::dispose(const Napi::CallbackInfo & info) {
    state_.reset();
    handle_ = {};
    return info.Env().Undefined();
}

}  // namespace kvasir::addon
