#include "addon/convert.h"
#include "addon/objects.h"
#include "engine/clock.h"

namespace kvasir::addon {

namespace {
template <typename T> struct Timed {
    T value;
    double ms;
};
}  // namespace

Napi::Function ReferenceObject::define(Napi::Env env) {
    return DefineClass(
        env, "Reference",
        {InstanceMethod<&ReferenceObject::prefill>("prefill"), InstanceMethod<&ReferenceObject::decode>("decode"),
         InstanceMethod<&ReferenceObject::truncate>("truncate"), InstanceMethod<&ReferenceObject::cut>("cut"),
         InstanceMethod<&ReferenceObject::dispose>("dispose")});
}

Napi::Object ReferenceObject::create(Napi::Env env, std::shared_ptr<LlamaReference> reference) {
    Napi::Object o = env.GetInstanceData<Instance>()->reference.New({});
    Unwrap(o)->reference_ = std::move(reference);
    Unwrap(o)->worker_ = env.GetInstanceData<Instance>()->io;
    return o;
}

std::shared_ptr<LlamaReference> ReferenceObject::reference(Napi::Env env) const {
    if (!reference_) throw Napi::Error::New(env, "the reference is disposed");
    return reference_;
}

Napi::Value ReferenceObject::prefill(const Napi::CallbackInfo & info) {
    auto r = reference(info.Env());
    const auto tokens = tokens_from(info[0], "tokens");
    using R = Timed<std::vector<float>>;
    std::function<R()> work = [=] {
        const auto start = Clock::now();
        auto logits = r->prefill(tokens);
        return R{std::move(logits), ms_since(start)};
    };
    return run_async<R>(info.Env(), worker_, work, [](Napi::Env env, R & t) {
        Napi::Object o = Napi::Object::New(env);
        o.Set("ms", t.ms);
        o.Set("logits", floats_to(env, t.value));
        return o;
    });
}

Napi::Value ReferenceObject::decode(const Napi::CallbackInfo & info) {
    auto r = reference(info.Env());
    const int count = int_from(info[0], "count");
    using R = Timed<std::vector<int32_t>>;
    std::function<R()> work = [=] {
        const auto start = Clock::now();
        auto tokens = r->decode_greedy(count);
        return R{std::move(tokens), ms_since(start)};
    };
    return run_async<R>(info.Env(), worker_, work, [](Napi::Env env, R & t) {
        Napi::Object o = Napi::Object::New(env);
        o.Set("ms", t.ms);
        o.Set("tokens", tokens_to(env, t.value));
        return o;
    });
}

Napi::Value ReferenceObject::truncate(const Napi::CallbackInfo & info) {
    auto r = reference(info.Env());
    const int n = int_from(info[0], "length");
    worker_->post([r, n] { r->truncate(n); });
    return info.Env().Undefined();
}

Napi::Value ReferenceObject::cut(const Napi::CallbackInfo & info) {
    auto r = reference(info.Env());
    const int begin = int_from(info[0], "begin"), end = int_from(info[1], "end");
    std::function<bool()> work = [=] { return r->cut(begin, end), true; };
    return run_async<bool>(info.Env(), worker_, work, [](Napi::Env env, bool &) { return env.Undefined(); });
}

Napi::Value ReferenceObject::dispose(const Napi::CallbackInfo & info) {
    if (reference_) worker_->post([r = std::move(reference_)]() mutable { r.reset(); });
    reference_.reset();
    return info.Env().Undefined();
}

}  // namespace kvasir::addon
