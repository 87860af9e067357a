#include "addon/convert.h"
#include "addon/objects.h"
#include "engine/fusing/session_deviation.h"

namespace kvasir::addon {

// Shared with queued work. The session is used and destroyed on the worker, whoever drops the last reference: it shares
// its model's memory with others. Data that JavaScript reads is copied out when a call ends.
struct SessionObject::State {
    std::shared_ptr<AnySession> session;
    int capacity = 0;
    std::atomic<int> length{0};
    std::vector<float> logits;  // set on JavaScript's thread
};

namespace {
// Cost of a reused token relative to a computed one; only affects a prompt's place in the queue.
constexpr double kReusedRow = 0.2;

struct Finished {
    std::vector<float> logits;
    AppendReport report;
    Generated generated;
};

// The token alone, or with its log-probabilities.
Napi::Value sampled_to(Napi::Env env, const Sampled & sampled, bool with_chances) {
    const auto chance = [&](int32_t token, float logprob) {
        Napi::Object o = Napi::Object::New(env);
        o.Set("token", token);
        o.Set("logprob", logprob);
        return o;
    };
    if (!with_chances) return Napi::Number::New(env, sampled.token);
    Napi::Object o = chance(sampled.token, sampled.logprob);
    Napi::Array top = Napi::Array::New(env, sampled.top.size());
    for (uint32_t i = 0; i < sampled.top.size(); ++i) top.Set(i, chance(sampled.top[i].token, sampled.top[i].logprob));
    o.Set("top", top);
    return o;
}
}  // namespace

Napi::Function SessionObject::define(Napi::Env env) {
    return DefineClass(
        env, "Session",
        {InstanceAccessor<&SessionObject::length>("length"), InstanceAccessor<&SessionObject::capacity>("capacity"),
         InstanceMethod<&SessionObject::append>("append"), InstanceMethod<&SessionObject::logits>("logits"),
         InstanceMethod<&SessionObject::generate>("generate"), InstanceMethod<&SessionObject::truncate>("truncate"),
         InstanceMethod<&SessionObject::adopt>("adopt"), InstanceMethod<&SessionObject::fork>("fork"),
         InstanceMethod<&SessionObject::reserve>("reserve"), InstanceMethod<&SessionObject::warm>("warm"),
         InstanceMethod<&SessionObject::deviation_from>("deviationFrom"),
         InstanceMethod<&SessionObject::dispose>("dispose")});
}

Napi::Object SessionObject::create(Napi::Env env, std::shared_ptr<Worker> worker, std::shared_ptr<AnySession> session) {
    Napi::Object o = env.GetInstanceData<Instance>()->session.New({});
    SessionObject * self = Unwrap(o);
    self->state_ = std::make_shared<State>();
    self->state_->capacity = session->capacity();
    self->state_->length = session->length();
    // The last owner may be JavaScript's garbage collector.
    AnySession * raw = session.get();
    self->state_->session = {raw, [worker, session = std::move(session)](AnySession *) mutable {
        worker->post([last = std::move(session)]() mutable { last.reset(); });
    }};
    self->worker_ = std::move(worker);
    return o;
}

std::shared_ptr<SessionObject::State> SessionObject::state(Napi::Env env) const {
    if (!state_) throw Napi::Error::New(env, "the session is disposed");
    return state_;
}

Napi::Value SessionObject::length(const Napi::CallbackInfo & info) {
    return Napi::Number::New(info.Env(), state(info.Env())->length);
}
Napi::Value SessionObject::capacity(const Napi::CallbackInfo & info) {
    return Napi::Number::New(info.Env(), state(info.Env())->capacity);
}

Napi::Value SessionObject::append(const Napi::CallbackInfo & info) {
    Napi::Env env = info.Env();
    auto s = state(env);
    if (!info[0].IsArray()) throw Napi::TypeError::New(env, "segments must be an array");
    auto list = info[0].As<Napi::Array>();
    std::vector<Segment> segments;
    for (uint32_t i = 0; i < list.Length(); ++i) {
        Napi::Object o = object_from(list.Get(i), "segment");
        if (string_from(o.Get("kind"), "segment.kind") == "chunk") {
            segments.push_back({{}, ChunkObject::from(o.Get("chunk")), range_from(o.Get("range"))});
        } else {
            segments.push_back({tokens_from(o.Get("tokens"), "segment.tokens"), nullptr});
        }
    }
    const StrategySpec strategy = strategy_from(info[1]);
    const auto abort = AbortObject::from(info[2]);
    const LoadOptions loading = load_options_from(info[4]);
    const int observe = info[5].IsUndefined() ? 0 : int_from(info[5], "observe");
    if (observe < 0) throw Napi::RangeError::New(env, "observe must be at least 0");
    Turn::Request request{.priority = info[6].IsUndefined() ? 0 : int_from(info[6], "priority"),
                          .alone = s->session->uses_devices(),
                          .abort = abort.get()};
    for (const Segment & segment : segments) {
        request.rows += segment.chunk ? kReusedRow * double(segment.chunk->n_tokens()) : double(segment.tokens.size());
    }
    Callback callback(env, info[3]);
    const auto work = [=] {
        Finished f;
        f.report = s->session->append(segments, strategy, abort.get(), throttled(callback), loading, observe);
        f.logits = s->session->logits();
        s->length = s->session->length();
        return f;
    };
    return run_async(env, worker_, work, [s](Napi::Env e, Finished & f) {
        s->logits = std::move(f.logits);
        return report_to(e, f.report);
    }, {callback}, {s.get(), request});
}

Napi::Value SessionObject::logits(const Napi::CallbackInfo & info) {
    return floats_to(info.Env(), state(info.Env())->logits);
}

Napi::Value SessionObject::generate(const Napi::CallbackInfo & info) {
    Napi::Env env = info.Env();
    auto s = state(env);
    const int max_tokens = int_from(info[0], "maxTokens");
    const Sampling sampling = sampling_from(info[1]);
    const auto abort = AbortObject::from(info[2]);
    Callback callback(env, info[3]);
    const auto work = [=] {
        Finished f;
        const auto on_token = [&](const Sampled & sampled) {
            const bool told = sampling.chances >= 0;
            callback.call([sampled, told](Napi::Env e) { return sampled_to(e, sampled, told); });
            return true;
        };
        f.generated = s->session->generate(max_tokens, sampling, abort.get(), on_token);
        f.logits = s->session->logits();
        s->length = s->session->length();
        return f;
    };
    return run_async(env, worker_, work, [s](Napi::Env e, Finished & f) {
        s->logits = std::move(f.logits);
        Napi::Object o = Napi::Object::New(e);
        o.Set("tokens", tokens_to(e, f.generated.tokens));
        o.Set("stop", f.generated.stop);
        o.Set("ms", f.generated.ms);
        o.Set("drafted", f.generated.drafted);
        o.Set("accepted", f.generated.accepted);
        return o;
    }, {callback}, {s.get(), Turn::Request{.is_short = true}, true});
}

Napi::Value SessionObject::truncate(const Napi::CallbackInfo & info) {
    auto s = state(info.Env());
    const int n = int_from(info[0], "length");
    if (n < 0 || n > s->length) {
        throw Napi::RangeError::New(info.Env(), "length must be between 0 and the session's length");
    }
    if (n < s->length) s->logits.clear();
    s->length = n;
    worker_->post([s, n] { s->session->truncate(std::min(n, s->session->length())); }, {s.get()});
    return info.Env().Undefined();
}

Napi::Value SessionObject::adopt(const Napi::CallbackInfo & info) {
    Napi::Env env = info.Env();
    auto s = state(env);
    const auto tokens = tokens_from(info[0], "tokens");
    const auto work = [=] {
        const int taken = s->session->adopt(tokens);
        s->length = taken;
        return taken;
    };
    return run_async(env, worker_, work, [](Napi::Env e, int taken) { return Napi::Number::New(e, taken); }, {},
                     {s.get()});
}

Napi::Value SessionObject::fork(const Napi::CallbackInfo & info) {
    Napi::Env env = info.Env();
    auto s = state(env);
    const int length = int_from(info[0], "length");
    return run_async(env, worker_, [=] { return s->session->branch(length); },
                     [w = worker_](Napi::Env e, auto & session) { return create(e, w, std::move(session)); }, {},
                     {s.get()});
}

Napi::Value SessionObject::reserve(const Napi::CallbackInfo & info) {
    Napi::Env env = info.Env();
    auto s = state(env);
    const int tokens = int_from(info[0], "tokens");
    return run_async(env, worker_, [=] { s->session->reserve(tokens); }, {s.get()});
}

Napi::Value SessionObject::warm(const Napi::CallbackInfo & info) {
    Napi::Env env = info.Env();
    auto s = state(env);
    const int begin = int_from(info[0], "begin"), end = int_from(info[1], "end");
    if (begin < 0 || end < begin) throw Napi::RangeError::New(env, "begin and end must be positions in order");
    return run_async(env, worker_, [=] { s->session->warm(begin, end); }, {s.get()});
}

Napi::Value SessionObject::deviation_from(const Napi::CallbackInfo & info) {
    Napi::Env env = info.Env();
    auto s = state(env);
    if (!info[0].IsObject() || !info[0].As<Napi::Object>().InstanceOf(env.GetInstanceData<Instance>()->session.Value()))
        throw Napi::TypeError::New(env, "other must be a session");
    const SessionObject * object = Unwrap(info[0].As<Napi::Object>());
    auto other = object->state(env);
    if (object->worker_ != worker_) {
        throw Napi::TypeError::New(env, "other must be a session of the same model");
    }
    const int begin = int_from(info[1], "begin"), count = int_from(info[2], "count");
    const auto work = [=] {
        const auto *a = dynamic_cast<const Session *>(s->session.get()),
                   *b = dynamic_cast<const Session *>(other->session.get());
        require(a && b, "sessions that libllama runs cannot be compared");
        return deviation(*a, *b, begin, count);
    };
    return run_async(env, worker_, work, [](Napi::Env e, SessionDeviation & d) {
        Napi::Object o = Napi::Object::New(e);
        o.Set("k", floats_to(e, d.k));
        o.Set("v", floats_to(e, d.v));
        o.Set("attention", d.attention.empty() ? e.Null() : Napi::Value(floats_to(e, d.attention)));
        return o;
    }, {}, {s.get()});
}

Napi::Value SessionObject::dispose(const Napi::CallbackInfo & info) {
    state_.reset();
    worker_.reset();
    return info.Env().Undefined();
}

}  // namespace kvasir::addon
