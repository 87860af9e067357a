#include "addon/convert.h"
#include "addon/objects.h"

namespace kvasir::addon {

Napi::Function EmbedderObject::define(Napi::Env env) {
    return DefineClass(
        env, "Embedder",
        {InstanceAccessor<&EmbedderObject::info>("info"), InstanceMethod<&EmbedderObject::embed>("embed"),
         InstanceMethod<&EmbedderObject::rank>("rank"),
         InstanceMethod<&EmbedderObject::tokenize>("tokenize"),
         InstanceMethod("dispose", &EmbedderObject::dispose)});
}

Napi::Object EmbedderObject::create(Napi::Env env, std::shared_ptr<Embedder> embedder, std::shared_ptr<Worker> worker) {
    Napi::Object facts = Napi::Object::New(env);
    facts.Set("name", embedder->name());
    facts.Set("architecture", embedder->architecture());
    facts.Set("fileBytes", double(embedder->file_size()));
    facts.Set("dimension", embedder->dimension());
    facts.Set("contextTokens", embedder->context());
    facts.Set("pooling", embedder->pooling());
    facts.Set("threads", embedder->threads());
    facts.Set("loadMs", embedder->load_ms());
    Napi::Object o = wrap(env.GetInstanceData<Instance>()->embedder, std::move(embedder), std::move(worker));
    Unwrap(o)->info_ = Napi::Persistent(facts);
    return o;
}

Napi::Value EmbedderObject::info(const Napi::CallbackInfo & info) {
    if (info_.IsEmpty()) throw Napi::Error::New(info.Env(), "the embedder is not loaded");
    return info_.Value();
}

namespace {
std::vector<std::string> texts_from(const Napi::Value & value) {
    if (!value.IsArray()) throw Napi::TypeError::New(value.Env(), "texts must be an array");
    auto list = value.As<Napi::Array>();
    std::vector<std::string> texts;
    for (uint32_t i = 0; i < list.Length(); ++i) texts.push_back(string_from(list.Get(i), "texts[]"));
    return texts;
}
}  // namespace

Napi::Value EmbedderObject::embed(const Napi::CallbackInfo & info) {
    Napi::Env env = info.Env();
    const auto e = object(env);
    const auto abort = AbortObject::from(info[1]);
    const auto work = [e, texts = texts_from(info[0]), abort] { return e->embed(texts, abort.get()); };
    return run_async(env, worker_, work, floats_to);
}

Napi::Value EmbedderObject::rank(const Napi::CallbackInfo & info) {
    Napi::Env env = info.Env();
    const auto e = object(env);
    const auto abort = AbortObject::from(info[2]);
    const auto work = [e, query = string_from(info[0], "query"), texts = texts_from(info[1]), abort] {
        return e->rank(query, texts, abort.get());
    };
    return run_async(env, worker_, work, floats_to);
}

Napi::Value EmbedderObject::tokenize(const Napi::CallbackInfo & info) {
    const auto e = object(info.Env());
    const std::string text = string_from(info[0], "text");
    return guarded(info.Env(), [&] { return tokens_to(info.Env(), e->tokenize(text)); });
}

}  // namespace kvasir::addon
