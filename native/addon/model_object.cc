#include "addon/model_objects.h"
#include "engine/scheduling/thread_count.h"

namespace kvasir::addon {

namespace {
Instance & instance(Napi::Env env) { return *env.GetInstanceData<Instance>(); }
}  // namespace

ProgressFn throttled(Callback callback) {
    if (!callback) return nullptr;
    auto last = std::make_shared<Clock::time_point>();
    return [callback, last](Progress p) {
        if (p.done < p.total && Clock::now() - *last < std::chrono::milliseconds(50)) return;
        *last = Clock::now();
        callback.call([p](Napi::Env env) { return progress_to(env, p); });
    };
}

Napi::Function AbortObject::define(Napi::Env env) {
    return DefineClass(env, "Abort", {InstanceMethod<&AbortObject::abort>("abort")});
}
AbortObject::AbortObject(const Napi::CallbackInfo & info) : ObjectWrap(info) {}
Napi::Value AbortObject::abort(const Napi::CallbackInfo & info) {
    flag_->store(true);
    return info.Env().Undefined();
}
std::shared_ptr<std::atomic<bool>> AbortObject::from(const Napi::Value & v) {
    if (!v.IsObject() || !v.As<Napi::Object>().InstanceOf(instance(v.Env()).abort.Value())) {
        throw Napi::TypeError::New(v.Env(), "abort must come from createAbort()");
    }
    return Unwrap(v.As<Napi::Object>())->flag_;
}

namespace {

void require_encodes(const Model & model, const ChunkShape & shape, const std::string & file) {
    if (model.encodes(shape)) return;
    throw Error("CHUNK_MISMATCH", "The chunk file " + file + " was computed by another model or vocabulary.",
                "Kvasir recomputes it for this model.");
}

}  // namespace

Napi::Function ModelObject::define(Napi::Env env) {
    return DefineClass(
        env, "Model",
        {InstanceAccessor("info", &ModelObject::info, nullptr), InstanceMethod("tokenize", &ModelObject::tokenize),
         InstanceMethod("detokenize", &ModelObject::detokenize),
         InstanceMethod<&ModelObject::encode_chunks>("encodeChunks"),
         InstanceMethod<&ModelObject::open_chunk>("openChunk"),
         InstanceMethod<&ModelObject::receive_chunk>("receiveChunk"),
         InstanceMethod("createSession", &ModelObject::create_session),
         InstanceMethod<&ModelObject::kv_usage>("kvUsage"), InstanceMethod<&ModelObject::set_kv_budget>("setKvBudget"),
         InstanceMethod<&ModelObject::on_device>("onDevice"), InstanceMethod<&ModelObject::device_tier>("deviceTier"),
         InstanceMethod<&ModelObject::set_device_budget>("setDeviceBudget"),
         InstanceMethod("exportPrefix", &ModelObject::export_prefix),
         InstanceMethod("openPrefix", &ModelObject::open_prefix),
         InstanceMethod("importPrefix", &ModelObject::import_prefix),
         InstanceMethod("dispose", &ModelObject::dispose)});
}

Napi::Object ModelObject::create(Napi::Env env, const ModelHandle & handle) {
    return wrap(instance(env).model, handle, model_info(env, *handle.model));
}

Napi::Value ModelObject::encode_chunks(const Napi::CallbackInfo & info) {
    ModelHandle e = handle(info.Env());
    const auto texts = token_lists_from(info[0], "texts");
    const auto prefix = tokens_from(info[1], "prefix");
    const auto abort = AbortObject::from(info[3]);
    const KvDtype dtype = guarded(info.Env(), [&] { return parse_dtype(string_from(info[2], "dtype")); });
    Callback callback(info.Env(), info[4]);
    const int priority = info[5].IsUndefined() ? Turn::kBackground : int_from(info[5], "priority");
    const auto work = [=] {
        const LeavesACore modest(priority >= Turn::kBackground);
        return kvasir::encode_chunks(e.model, texts, prefix, dtype, abort.get(), throttled(callback));
    };
    size_t rows = 0;
    for (const auto & tokens : texts) rows += tokens.size();
    const Turn::Request request{.priority = priority, .rows = double(rows), .abort = abort.get()};
    const auto all_created = [worker = e.worker](Napi::Env env, std::vector<std::shared_ptr<ChunkKv>> & chunks) {
        Napi::Array list = Napi::Array::New(env, chunks.size());
        for (size_t i = 0; i < chunks.size(); ++i) list[uint32_t(i)] = ChunkObject::created_on(worker)(env, chunks[i]);
        return list;
    };
    return run_async(info.Env(), e.worker, work, all_created, {callback}, {nullptr, request});
}

Napi::Value ModelObject::open_chunk(const Napi::CallbackInfo & info) {
    ModelHandle e = handle(info.Env());
    const std::string path = string_from(info[0], "path");
    const std::chrono::milliseconds patience(info[1].IsUndefined() ? 0 : int_from(info[1], "patienceMs"));
    const auto work = [=] {
        auto chunk = std::make_shared<ChunkKv>(path, patience);
        require_encodes(*e.model, chunk->shape(), path);
        return chunk;
    };
    return run_apart(info.Env(), instance(info.Env()).spare, work, ChunkObject::created_on(e.worker));
}

// Allocates no memory until the header proves that this is the requested chunk.
Napi::Value ModelObject::receive_chunk(const Napi::CallbackInfo & info) {
    ModelHandle e = handle(info.Env());
    const std::string key = string_from(info[0], "key");
    const ByteSpan beginning = span_from(info[1], "beginning");
    const size_t file_bytes = bytes_from(info[2], "fileBytes");
    return guarded(info.Env(), [&]() -> Napi::Value {
        ChunkHeader header = read_chunk_header(beginning, file_bytes, "of a shared cache");
        if (chunk_key(header.shape, header.tokens) != key) {
            throw Error("CHUNK_CORRUPT", "A chunk file of a shared cache is damaged: it contains another chunk.",
                        "Kvasir computes the chunk locally instead.");
        }
        require_encodes(*e.model, header.shape, "of a shared cache");
        const auto * data = static_cast<const uint8_t *>(beginning.data);
        const size_t begin = std::min(size_t(header.data_offset), beginning.size);
        auto chunk = std::make_shared<ChunkKv>(std::move(header));
        chunk->receive({data + begin, beginning.size - begin});
        return ChunkObject::create(info.Env(), std::move(chunk), e.worker);
    });
}

Napi::Value ModelObject::kv_usage(const Napi::CallbackInfo & info) {
    ModelHandle e = handle(info.Env());
    struct Usage {
        int blocks, used, evictable;
    };
    const auto work = [=] {
        const BlockPool & blocks = e.model->kv_pool().blocks();
        return Usage{blocks.size(), blocks.used_count(), blocks.evictable_count()};
    };
    return run_async(info.Env(), e.worker, work, [](Napi::Env env, Usage & u) {
        Napi::Object o = Napi::Object::New(env);
        o.Set("blocks", u.blocks);
        o.Set("used", u.used);
        o.Set("evictable", u.evictable);
        return o;
    });
}

Napi::Value ModelObject::set_kv_budget(const Napi::CallbackInfo & info) {
    const size_t bytes = bytes_from(info[0], "bytes");
    ModelHandle e = handle(info.Env());
    e.worker->post([m = e.model, bytes]() mutable {
        m->kv_pool().set_budget(bytes);
        m.reset();
    });
    return info.Env().Undefined();
}

Napi::Value ModelObject::on_device(const Napi::CallbackInfo & info) {
    const std::string key = string_from(info[0], "key");
    return Napi::Boolean::New(info.Env(), handle(info.Env()).model->device_tier().holds(key));
}

Napi::Value ModelObject::device_tier(const Napi::CallbackInfo & info) {
    const DeviceTier & tier = handle(info.Env()).model->device_tier();
    if (!tier.has_device()) return info.Env().Null();
    const DeviceTier::Usage usage = tier.usage();
    Napi::Object o = Napi::Object::New(info.Env());
    o.Set("bytes", double(usage.bytes));
    o.Set("limitBytes", double(usage.limit));
    o.Set("totalBytes", double(usage.total));
    o.Set("chunks", usage.chunks);
    return o;
}

Napi::Value ModelObject::set_device_budget(const Napi::CallbackInfo & info) {
    std::optional<size_t> bytes;
    if (!info[0].IsNull()) bytes = bytes_from(info[0], "bytes");
    ModelHandle e = handle(info.Env());
    e.worker->post([m = e.model, bytes]() mutable {
        m->device_tier().set_budget(bytes);
        m.reset();
    });
    return info.Env().Undefined();
}

}  // namespace kvasir::addon
