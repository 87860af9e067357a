#include "addon/model_objects.h"
#include "engine/chunks/hash.h"

namespace kvasir::addon {

namespace {

// These sessions use one contiguous context rather than blocks; callers that count in blocks get our block size.
Napi::Object llama_info(Napi::Env env, const LlamaModel & model) {
    Napi::Object o = gguf_info(env, model.file());
    set_vocabulary(o, model.vocab());
    o.Set("fingerprint", to_hex(model.fingerprint()));
    o.Set("prefixRoot", to_hex(state_root(model)));
    o.Set("kvDtype", "f16");
    o.Set("kvBlockTokens", kKvBlock);
    Napi::Object buffers = Napi::Object::New(env);
    buffers.Set(model.device(), double(model.weight_bytes()));
    o.Set("buffers", buffers);
    Napi::Array devices = Napi::Array::New(env);
    for (int il = 0; il < model.n_layer(); ++il) devices.Set(uint32_t(il), model.device());
    o.Set("layerDevices", devices);
    o.Set("threads", model.threads());
    o.Set("loadMs", model.load_ms());
    return o;
}

}  // namespace

Napi::Function LlamaModelObject::define(Napi::Env env) {
    return DefineClass(
        env, "LlamaModel",
        {InstanceAccessor("info", &LlamaModelObject::info, nullptr),
         InstanceMethod("tokenize", &LlamaModelObject::tokenize),
         InstanceMethod("detokenize", &LlamaModelObject::detokenize),
         InstanceMethod<&LlamaModelObject::no_chunks>("encodeChunks"),
         InstanceMethod<&LlamaModelObject::no_chunks>("openChunk"),
         InstanceMethod<&LlamaModelObject::no_chunks>("receiveChunk"),
         InstanceMethod("createSession", &LlamaModelObject::create_session),
         InstanceMethod<&LlamaModelObject::kv_usage>("kvUsage"),
         InstanceMethod<&LlamaModelObject::set_kv_budget>("setKvBudget"),
         InstanceMethod<&LlamaModelObject::on_device>("onDevice"),
         InstanceMethod<&LlamaModelObject::device_tier>("deviceTier"),
         InstanceMethod<&LlamaModelObject::set_device_budget>("setDeviceBudget"),
         InstanceMethod("exportPrefix", &LlamaModelObject::export_prefix),
         InstanceMethod("openPrefix", &LlamaModelObject::open_prefix),
         InstanceMethod("importPrefix", &LlamaModelObject::import_prefix),
         InstanceMethod("dispose", &LlamaModelObject::dispose)});
}

Napi::Object LlamaModelObject::create(Napi::Env env, const LlamaHandle & handle) {
    return wrap(env.GetInstanceData<Instance>()->llama_model, handle, llama_info(env, *handle.model));
}

Napi::Value LlamaModelObject::kv_usage(const Napi::CallbackInfo & info) {
    LlamaHandle e = handle(info.Env());
    return run_async(info.Env(), e.worker, [=] { return e.model->seat().room(); }, [](Napi::Env env, int room) {
        Napi::Object o = Napi::Object::New(env);
        o.Set("blocks", room / kKvBlock);
        o.Set("used", room / kKvBlock);
        o.Set("evictable", 0);
        return o;
    });
}

Napi::Value LlamaModelObject::set_kv_budget(const Napi::CallbackInfo & info) {
    const size_t bytes = bytes_from(info[0], "bytes");
    LlamaHandle e = handle(info.Env());
    e.worker->post([m = e.model, bytes]() mutable {
        m->beginnings().set_budget(bytes);
        m.reset();
    });
    return info.Env().Undefined();
}

// It has no device tier.
Napi::Value LlamaModelObject::set_device_budget(const Napi::CallbackInfo & info) { return info.Env().Undefined(); }

Napi::Value LlamaModelObject::on_device(const Napi::CallbackInfo & info) {
    return Napi::Boolean::New(info.Env(), false);
}
Napi::Value LlamaModelObject::device_tier(const Napi::CallbackInfo & info) { return info.Env().Null(); }

Napi::Value LlamaModelObject::no_chunks(const Napi::CallbackInfo & info) {
    throw Napi::TypeError::New(info.Env(), "a model that libllama runs has no KV of chunks: check info.engine first");
}

}  // namespace kvasir::addon
