#pragma once
// The JavaScript classes over models: of our engine, and of libllama with the same interface.
//
// Thread safety: as objects.h.
#include "addon/model_wrap.h"
#include "llama/llama_session.h"

namespace kvasir::addon {

using ModelHandle = Loaded<Model>;
using LlamaHandle = Loaded<LlamaModel>;

class ModelObject : public ModelWrap<ModelObject, Model, Session> {
  public:
    static Napi::Function define(Napi::Env env);
    static Napi::Object create(Napi::Env env, const ModelHandle & handle);
    explicit ModelObject(const Napi::CallbackInfo & info) : ModelWrap(info) {}

  private:
    Napi::Value encode_chunks(const Napi::CallbackInfo & info);
    Napi::Value open_chunk(const Napi::CallbackInfo & info);
    Napi::Value receive_chunk(const Napi::CallbackInfo & info);
    Napi::Value kv_usage(const Napi::CallbackInfo & info);
    Napi::Value set_kv_budget(const Napi::CallbackInfo & info);
    Napi::Value on_device(const Napi::CallbackInfo & info);
    Napi::Value device_tier(const Napi::CallbackInfo & info);
    Napi::Value set_device_budget(const Napi::CallbackInfo & info);
};

class LlamaModelObject : public ModelWrap<LlamaModelObject, LlamaModel, LlamaSession> {
  public:
    static Napi::Function define(Napi::Env env);
    static Napi::Object create(Napi::Env env, const LlamaHandle & handle);
    explicit LlamaModelObject(const Napi::CallbackInfo & info) : ModelWrap(info) {}

  private:
    Napi::Value kv_usage(const Napi::CallbackInfo & info);
    Napi::Value set_kv_budget(const Napi::CallbackInfo & info);
    Napi::Value set_device_budget(const Napi::CallbackInfo & info);
    Napi::Value on_device(const Napi::CallbackInfo & info);
    Napi::Value device_tier(const Napi::CallbackInfo & info);
    Napi::Value no_chunks(const Napi::CallbackInfo & info);
};

}  // namespace kvasir::addon
