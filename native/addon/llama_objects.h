#pragma once
// A model that libllama runs and its sessions, as JavaScript sees them: with the face of ModelObject and SessionObject.
//
// Thread safety: as of objects.h.
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
    Napi::Value export_prefix(const Napi::CallbackInfo & info);
    Napi::Value no_chunks(const Napi::CallbackInfo & info);
    Napi::Value dispose(const Napi::CallbackInfo & info);
    LlamaHandle handle_;
    Napi::ObjectReference info_;
};

class LlamaSessionObject : public Napi::ObjectWrap<LlamaSessionObject> {
  public:
    static Napi::Function define(Napi::Env env);
    static Napi::Object create(Napi::Env env, LlamaHandle handle, std::shared_ptr<LlamaSession> session);
    explicit LlamaSessionObject(const Napi::CallbackInfo & info) : ObjectWrap(info) {}

  private:
    struct State;
    std::shared_ptr<State> state(Napi::Env env) const;
    Napi::Value length(const Napi::CallbackInfo & info);
    Napi::Value capacity(const Napi::CallbackInfo & info);
    Napi::Value append(const Napi::CallbackInfo & info);
    Napi::Value logits(const Napi::CallbackInfo & info);
    Napi::Value generate(const Napi::CallbackInfo & info);
    Napi::Value truncate(const Napi::CallbackInfo & info);
    Napi::Value adopt(const Napi::CallbackInfo & info);
    Napi::Value fork(const Napi::CallbackInfo & info);
    Napi::Value reserve(const Napi::CallbackInfo & info);
    Napi::Value warm(const Napi::CallbackInfo & info);
    Napi::Value deviation_from(const Napi::CallbackInfo & info);
    Napi::Value dispose(const Napi::CallbackInfo & info);
    std::shared_ptr<State> state_;
    LlamaHandle handle_;
};

}  // namespace kvasir::addon
