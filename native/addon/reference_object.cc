#include "addon/convert.h"
#include "addon/objects.h"
#include "engine/clock.h"

namespace kvasir::addon {

namespace {
// Runs `work` on `worker`; resolves with its result as `name`, and the milliseconds it took.
template <typename F, typename C>
Napi::Value timed(Napi::Env env, const std::shared_ptr<Worker> & worker, F work, const char * name, C convert) {
    struct Timed {
        decltype(work()) value;
        double ms;
    };
    const auto run = [work] {
        const auto start = Clock::now();
        auto value = work();
        return Timed{std::move(value), ms_since(start)};
    };
    return run_async(env, worker, run, [name, convert](Napi::Env e, Timed & t) {
        Napi::Object o = Napi::Object::New(e);
        o.Set("ms", t.ms);
        o.Set(name, convert(e, t.value));
        return o;
    });
}
}  // namespace

Napi::Function ReferenceObject::define(Napi::Env env) {
    return DefineClass(
        env, "Reference",
        {InstanceMethod<&ReferenceObject::prefill>("prefill"), InstanceMethod<&ReferenceObject::decode>("decode"),
         InstanceMethod<&ReferenceObject::truncate>("truncate"), InstanceMethod<&ReferenceObject::cut>("cut"),
         InstanceMethod("dispose", &ReferenceObject::dispose)});
}

Napi::Object ReferenceObject::create(Napi::Env env, std::shared_ptr<LlamaReference> reference) {
    const Instance & instance = *env.GetInstanceData<Instance>();
    return wrap(instance.reference, std::move(reference), instance.io);
}

Napi::Value ReferenceObject::prefill(const Napi::CallbackInfo & info) {
    const auto r = object(info.Env());
    const auto tokens = tokens_from(info[0], "tokens");
    return timed(info.Env(), worker_, [=] { return r->prefill(tokens); }, "logits", floats_to);
}

Napi::Value ReferenceObject::decode(const Napi::CallbackInfo & info) {
    const auto r = object(info.Env());
    const int count = int_from(info[0], "count");
    return timed(info.Env(), worker_, [=] { return r->decode_greedy(count); }, "tokens", tokens_to);
}

Napi::Value ReferenceObject::truncate(const Napi::CallbackInfo & info) {
    auto r = object(info.Env());
    const int n = int_from(info[0], "length");
    worker_->post([r, n] { r->truncate(n); });
    return info.Env().Undefined();
}

Napi::Value ReferenceObject::cut(const Napi::CallbackInfo & info) {
    auto r = object(info.Env());
    const int begin = int_from(info[0], "begin"), end = int_from(info[1], "end");
    return run_async(info.Env(), worker_, [=] { r->cut(begin, end); });
}

}  // namespace kvasir::addon
