#pragma once
// JavaScript wrappers for a model that libllama runs, with the interface of ModelObject.
//
// Thread safety: as objects.h.
#include "addon/objects.h"
#include "llama/llama_session.h"

namespace kvasir::addon {

using LlamaHandle = Loaded<LlamaModel>;

class LlamaModelObject : public ModelWrap<LlamaModelObject, LlamaModel> {
  public:
    static Napi::Function define(Napi::Env env);
    static Napi::Object create(Napi::Env env, const LlamaHandle & handle);
    explicit LlamaModelObject(const Napi::CallbackInfo & info) : ModelWrap(info) {}

  private:
    Napi::Value create_session(const Napi::CallbackInfo & info);
    Napi::Value kv_usage(const Napi::CallbackInfo & info);
    Napi::Value set_kv_budget(const Napi::CallbackInfo & info);
    Napi::Value set_device_budget(const Napi::CallbackInfo & info);
    Napi::Value on_device(const Napi::CallbackInfo & info);
    Napi::Value device_tier(const Napi::CallbackInfo & info);
    Napi::Value export_prefix(const Napi::CallbackInfo & info);
    Napi::Value open_prefix(const Napi::CallbackInfo & info);
    Napi::Value import_prefix(const Napi::CallbackInfo & info);
    Napi::Value no_chunks(const Napi::CallbackInfo & info);
};

}  // namespace kvasir::addon
