#pragma once
// The JavaScript classes over engine objects. Each wraps a shared pointer: dispose() drops it; queued work keeps its
// own reference.
//
// Thread safety: JavaScript's thread constructs, calls and destroys these objects. Tasks on their worker use the engine
// objects inside and destroy them there, or JavaScript's thread does if no task is left. Data that JavaScript reads is
// either immutable or copied out when a task ends.
#include <napi.h>

#include <atomic>

#include "addon/async.h"
#include "engine/session.h"
#include "engine/vectors/vector_scan.h"
#include "llama/embedder.h"
#include "llama/reference.h"

namespace kvasir::addon {

// Constructors of this instance of the addon (each worker thread and window has its own).
struct Instance {
    Napi::FunctionReference model, session, chunk, abort, reference, embedder, llama_model, vector_scan;
    std::shared_ptr<Worker> io = std::make_shared<Worker>();  // for files that belong to no model
    std::shared_ptr<SpareWorkers> spare = std::make_shared<SpareWorkers>();  // for files whose drive may hang
};

class AbortObject : public Napi::ObjectWrap<AbortObject> {
  public:
    static Napi::Function define(Napi::Env env);
    explicit AbortObject(const Napi::CallbackInfo & info);
    static std::shared_ptr<std::atomic<bool>> from(const Napi::Value & v);

  private:
    Napi::Value abort(const Napi::CallbackInfo & info);
    std::shared_ptr<std::atomic<bool>> flag_ = std::make_shared<std::atomic<bool>>(false);
};

// What most of them have in common: an engine object, and the worker on which it is destroyed.
template <typename Self, typename T> class Handle : public Napi::ObjectWrap<Self> {
  public:
    explicit Handle(const Napi::CallbackInfo & info) : Napi::ObjectWrap<Self>(info) {}

  protected:
    static Napi::Object wrap(const Napi::FunctionReference & constructor, std::shared_ptr<T> object,
                             std::shared_ptr<Worker> worker) {
        Napi::Object o = constructor.New({});
        Handle * self = Self::Unwrap(o);
        self->object_ = std::move(object);
        self->worker_ = std::move(worker);
        return o;
    }
    std::shared_ptr<T> object(Napi::Env env) const {
        if (!object_) throw Napi::Error::New(env, std::string("the ") + Self::kName + " is disposed");
        return object_;
    }
    Napi::Value dispose(const Napi::CallbackInfo & info) {
        drop_on(worker_, object_);
        return info.Env().Undefined();
    }
    std::shared_ptr<T> object_;
    std::shared_ptr<Worker> worker_;
};

class ChunkObject : public Handle<ChunkObject, ChunkKv> {
  public:
    static constexpr const char * kName = "chunk";
    static Napi::Function define(Napi::Env env);
    static Napi::Object create(Napi::Env env, std::shared_ptr<ChunkKv> chunk, std::shared_ptr<Worker> worker);
    explicit ChunkObject(const Napi::CallbackInfo & info) : Handle(info) {}
    ~ChunkObject() override { let_go(); }
    static std::shared_ptr<ChunkKv> from(const Napi::Value & v);
    // Converts a chunk of this worker's; null without one.
    static std::function<Napi::Value(Napi::Env, std::shared_ptr<ChunkKv> &)> created_on(std::shared_ptr<Worker> worker);

  private:
    Napi::Value tokens(const Napi::CallbackInfo & info);
    Napi::Value dtype(const Napi::CallbackInfo & info);
    Napi::Value converted(const Napi::CallbackInfo & info);
    Napi::Value bytes(const Napi::CallbackInfo & info);
    Napi::Value in_memory(const Napi::CallbackInfo & info);
    Napi::Value save(const Napi::CallbackInfo & info);
    Napi::Value pull_in(const Napi::CallbackInfo & info);
    Napi::Value receive(const Napi::CallbackInfo & info);
    Napi::Value fail(const Napi::CallbackInfo & info);
    Napi::Value dispose(const Napi::CallbackInfo & info);
    void let_go();
};

class SessionObject : public Napi::ObjectWrap<SessionObject> {
  public:
    static Napi::Function define(Napi::Env env);
    // `worker`: the one of its model.
    static Napi::Object create(Napi::Env env, std::shared_ptr<Worker> worker, std::shared_ptr<AnySession> session);
    explicit SessionObject(const Napi::CallbackInfo & info) : ObjectWrap(info) {}

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
    std::shared_ptr<Worker> worker_;
};

class ReferenceObject : public Handle<ReferenceObject, LlamaReference> {
  public:
    static constexpr const char * kName = "reference";
    static Napi::Function define(Napi::Env env);
    static Napi::Object create(Napi::Env env, std::shared_ptr<LlamaReference> reference);
    explicit ReferenceObject(const Napi::CallbackInfo & info) : Handle(info) {}

  private:
    Napi::Value prefill(const Napi::CallbackInfo & info);
    Napi::Value decode(const Napi::CallbackInfo & info);
    Napi::Value truncate(const Napi::CallbackInfo & info);
    Napi::Value cut(const Napi::CallbackInfo & info);
};

class EmbedderObject : public Handle<EmbedderObject, Embedder> {
  public:
    static constexpr const char * kName = "embedder";
    static Napi::Function define(Napi::Env env);
    static Napi::Object create(Napi::Env env, std::shared_ptr<Embedder> embedder, std::shared_ptr<Worker> worker);
    explicit EmbedderObject(const Napi::CallbackInfo & info) : Handle(info) {}

  private:
    Napi::Value info(const Napi::CallbackInfo & info);
    Napi::Value embed(const Napi::CallbackInfo & info);
    Napi::Value rank(const Napi::CallbackInfo & info);
    Napi::Value tokenize(const Napi::CallbackInfo & info);
    Napi::ObjectReference info_;
};

class VectorScanObject : public Handle<VectorScanObject, VectorScan> {
  public:
    static constexpr const char * kName = "vector scan";
    static Napi::Function define(Napi::Env env);
    static Napi::Object create(Napi::Env env, std::shared_ptr<VectorScan> scan);
    explicit VectorScanObject(const Napi::CallbackInfo & info) : Handle(info) {}

  private:
    Napi::Value put(const Napi::CallbackInfo & info);
    Napi::Value remove(const Napi::CallbackInfo & info);
    Napi::Value nearest(const Napi::CallbackInfo & info);
};

// Reports progress at most every 50 ms, so that a fast pass does not flood JavaScript's queue.
ProgressFn throttled(Callback callback);

}  // namespace kvasir::addon
