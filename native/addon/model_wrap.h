#pragma once
// What the JavaScript classes over the models of both engines have in common.
//
// Thread safety: as objects.h.
#include "addon/async.h"
#include "addon/convert.h"

namespace kvasir::addon {

// A model and the thread that runs its work.
template <typename M> struct Loaded {
    std::shared_ptr<M> model;
    std::shared_ptr<Worker> worker;
};

template <typename Self, typename M> class ModelWrap : public Napi::ObjectWrap<Self> {
  public:
    explicit ModelWrap(const Napi::CallbackInfo & info) : Napi::ObjectWrap<Self>(info) {}


  protected:
    static Napi::Object wrap(const Napi::FunctionReference & constructor, const Loaded<M> & handle, Napi::Object info) {
        Napi::Object o = constructor.New({});
        ModelWrap * self = Self::Unwrap(o);
        self->info_ = Napi::Persistent(info);
        self->handle_ = handle;
        return o;
    }

    Loaded<M> handle(Napi::Env env) const {
        if (!handle_.model) throw Napi::Error::New(env, "the model is disposed");
        return handle_;
    }

    Napi::Value info(const Napi::CallbackInfo & info) {
        if (info_.IsEmpty()) throw Napi::Error::New(info.Env(), "the model is not loaded");
        return info_.Value();
    }

    Napi::Value tokenize(const Napi::CallbackInfo & info) {
        return guarded(info.Env(), [&] {
            const Vocab & vocab = handle(info.Env()).model->vocab();
            const std::string text = string_from(info[0], "text");
            if (info[3].ToBoolean()) return tokens_to(info.Env(), vocab.tokenize_behind(text, info[2].ToBoolean()));
            return tokens_to(info.Env(), vocab.tokenize(text, info[1].ToBoolean(), info[2].ToBoolean()));
        });
    }

    Napi::Value detokenize(const Napi::CallbackInfo & info) {
        return guarded(info.Env(), [&]() -> Napi::Value {
            const Vocab & vocab = handle(info.Env()).model->vocab();
            const std::string text = vocab.detokenize(tokens_from(info[0], "tokens"), info[1].ToBoolean());
            return Napi::String::New(info.Env(), text);
        });
    }

    Napi::Value dispose(const Napi::CallbackInfo & info) {
        // Destroyed on its worker, after all work queued before.
        if (handle_.model) handle_.worker->post([m = std::move(handle_.model)]() mutable { m.reset(); });
        handle_ = {};
        return info.Env().Undefined();
    }

  private:
    Loaded<M> handle_;
    Napi::ObjectReference info_;
};

}  // namespace kvasir::addon
