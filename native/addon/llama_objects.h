#pragma once
// JavaScript wrappers for a model that libllama runs, with the interface of ModelObject.
//
// Thread safety: as objects.h.
#include "addon/objects.h"
#include "llama/llama_session.h"

namespace kvasir::addon {

struct LlamaHandle {
    std::shared_ptr<LlamaModel> model;
    std::shared_ptr<Worker> worker;
};

class LlamaModelObject : public Napi::ObjectWrap<LlamaModelObject> {
  public:
    static Napi::Function define(Napi::Env env);
    static Napi::Object create(Napi::Env env, LlamaHandle handle);
    explicit LlamaModelObject(const Napi::CallbackInfo & info) : ObjectWrap(info) {}

  private:
    LlamaHandle handle(Napi::Env env) const;
    Napi::Value info(const Napi::CallbackInfo & info);
    Napi::Value tokenize(const Napi::CallbackInfo & info);
    Napi::Value detokenize(const Napi::CallbackInfo & info);
    Napi::Value create_session(const Napi::CallbackInfo & info);
    Napi::Value kv_usage(const Napi::CallbackInfo & info);
    Napi::Value set_kv_budget(const Napi::CallbackInfo & info);
    Napi::Value on_device(const Napi::CallbackInfo & info);
    Napi::Value device_tier(const Napi::CallbackInfo & info);
    Napi::Value export_prefix(const Napi::CallbackInfo & info);
    Napi::Value no_chunks(const Napi::CallbackInfo & info);
    Napi::Value dispose(const Napi::CallbackInfo & info);
    LlamaHandle handle_;
    Napi::ObjectReference info_;
};

}  // namespace kvasir::addon
