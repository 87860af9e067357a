#include "addon/convert.h"
#include "addon/objects.h"

namespace kvasir::addon {

Napi::Function ChunkObject::define(Napi::Env env) {
    return DefineClass(
        env, "Chunk",
        {InstanceAccessor<&ChunkObject::tokens>("tokens"), InstanceAccessor<&ChunkObject::dtype>("dtype"),
         InstanceAccessor<&ChunkObject::bytes>("bytes"), InstanceAccessor<&ChunkObject::in_memory>("inMemory"),
         InstanceMethod<&ChunkObject::save>("save"), InstanceMethod<&ChunkObject::pull_in>("pullIn"),
         InstanceMethod<&ChunkObject::converted>("converted"),
         InstanceMethod<&ChunkObject::receive>("receive"), InstanceMethod<&ChunkObject::fail>("fail"),
         InstanceMethod<&ChunkObject::dispose>("dispose")});
}

Napi::Object ChunkObject::create(Napi::Env env, std::shared_ptr<ChunkKv> chunk, std::shared_ptr<Worker> worker) {
    return wrap(env.GetInstanceData<Instance>()->chunk, std::move(chunk), std::move(worker));
}

std::shared_ptr<ChunkKv> ChunkObject::from(const Napi::Value & v) {
    if (!v.IsObject() || !v.As<Napi::Object>().InstanceOf(v.Env().GetInstanceData<Instance>()->chunk.Value())) {
        throw Napi::TypeError::New(v.Env(), "chunk must come from encodeChunk() or openChunk()");
    }
    return Unwrap(v.As<Napi::Object>())->object(v.Env());
}

std::function<Napi::Value(Napi::Env, std::shared_ptr<ChunkKv> &)> ChunkObject::created_on(
    std::shared_ptr<Worker> worker) {
    return [worker = std::move(worker)](Napi::Env env, std::shared_ptr<ChunkKv> & chunk) -> Napi::Value {
        return chunk ? Napi::Value(create(env, std::move(chunk), worker)) : env.Null();
    };
}

Napi::Value ChunkObject::tokens(const Napi::CallbackInfo & info) {
    return tokens_to(info.Env(), object(info.Env())->tokens());
}
Napi::Value ChunkObject::dtype(const Napi::CallbackInfo & info) {
    return Napi::String::New(info.Env(), dtype_name(object(info.Env())->shape().dtype));
}
Napi::Value ChunkObject::bytes(const Napi::CallbackInfo & info) {
    return Napi::Number::New(info.Env(), double(object(info.Env())->bytes()));
}
Napi::Value ChunkObject::in_memory(const Napi::CallbackInfo & info) {
    return Napi::Boolean::New(info.Env(), object(info.Env())->in_memory());
}

Napi::Value ChunkObject::save(const Napi::CallbackInfo & info) {
    auto c = object(info.Env());
    const std::string path = string_from(info[0], "path");
    return run_apart(info.Env(), info.Env().GetInstanceData<Instance>()->spare, [=] { return c->save(path); },
                     [](Napi::Env env, uint64_t n) { return Napi::Number::New(env, double(n)); });
}

Napi::Value ChunkObject::pull_in(const Napi::CallbackInfo & info) {
    auto c = object(info.Env());
    return run_apart(info.Env(), info.Env().GetInstanceData<Instance>()->spare, [=] { c->pull_in(); });
}

Napi::Value ChunkObject::converted(const Napi::CallbackInfo & info) {
    auto c = object(info.Env());
    const KvDtype to = guarded(info.Env(), [&] { return parse_dtype(string_from(info[0], "dtype")); });
    return run_async(info.Env(), worker_, [=] { return c->converted(to); }, created_on(worker_), {},
                     {.takes_turn = true});
}

Napi::Value ChunkObject::receive(const Napi::CallbackInfo & info) {
    auto c = object(info.Env());
    const ByteSpan bytes = span_from(info[0], "bytes");
    return guarded(info.Env(), [&] { return c->receive(bytes), info.Env().Undefined(); });
}

Napi::Value ChunkObject::fail(const Napi::CallbackInfo & info) {
    object(info.Env())->fail(Error(string_from(info[0], "code"), string_from(info[1], "message")));
    return info.Env().Undefined();
}

// Nobody will deliver the missing layers, so waiting threads must be released.
void ChunkObject::let_go() {
    const char * message = "The transfer of a chunk from a shared cache was abandoned.";
    if (object_) object_->fail(Error("SHARED_TIER_FAILED", message));
    object_.reset();
}

Napi::Value ChunkObject::dispose(const Napi::CallbackInfo & info) {
    let_go();
    return info.Env().Undefined();
}

}  // namespace kvasir::addon
