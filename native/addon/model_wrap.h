#pragma once
// What the JavaScript classes over the models of both engines have in common.
//
// Thread safety: as objects.h.
#include "addon/convert.h"
#include "addon/objects.h"
#include "engine/kv/prefix_blocks.h"
#include "llama/stored_beginning.h"

namespace kvasir::addon {

// A model and the thread that runs its work.
template <typename M> struct Loaded {
    std::shared_ptr<M> model;
    std::shared_ptr<Worker> worker;
};

template <typename Self, typename M, typename SessionOf> class ModelWrap : public Napi::ObjectWrap<Self> {
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

    Napi::Value create_session(const Napi::CallbackInfo & info) {
        const int capacity = int_from(info[0], "capacity");
        if (capacity < 1) throw Napi::RangeError::New(info.Env(), "capacity must be at least 1");
        Loaded<M> e = handle(info.Env());
        auto session = guarded(info.Env(), [&] { return std::make_shared<SessionOf>(e.model, capacity); });
        return SessionObject::create(info.Env(), e.worker, std::move(session));
    }

    Napi::Value export_prefix(const Napi::CallbackInfo & info) {
        Loaded<M> e = handle(info.Env());
        const auto tokens = tokens_from(info[0], "tokens");
        return run_async(info.Env(), e.worker, [=] { return kvasir::export_prefix(*e.model, tokens); },
                         ChunkObject::created_on(e.worker));
    }

    Napi::Value open_prefix(const Napi::CallbackInfo & info) {
        Loaded<M> e = handle(info.Env());
        const std::string path = string_from(info[0], "path");
        const auto work = [=] {
            auto prefix = std::make_shared<ChunkKv>(path);
            check_prefix(*e.model, *prefix);
            return prefix;
        };
        return run_async(info.Env(), e.worker, work, ChunkObject::created_on(e.worker), {}, {.takes_turn = true});
    }

    Napi::Value import_prefix(const Napi::CallbackInfo & info) {
        Loaded<M> e = handle(info.Env());
        const auto prefix = ChunkObject::from(info[0]);
        return run_async(info.Env(), e.worker, [=] { kvasir::import_prefix(*e.model, *prefix); });
    }

    Napi::Value dispose(const Napi::CallbackInfo & info) {
        drop_on(handle_.worker, handle_.model);
        handle_ = {};
        return info.Env().Undefined();
    }

  private:
    Loaded<M> handle_;
    Napi::ObjectReference info_;
};

}  // namespace kvasir::addon
