// The addon's exports; src-main/engine/native.ts types them.
#include <napi.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include "addon/model_objects.h"
#include "engine/chunks/hash.h"

namespace kvasir::addon {

namespace {

Instance & instance(Napi::Env env) { return *env.GetInstanceData<Instance>(); }

// glibc keeps freed memory in up to eight arenas a core, and each new thread takes the next one. Long work starts a
// thread each time, so after days every arena would hold what one answer needs.
void limit_arenas() {
#if defined(__GLIBC__)
    mallopt(M_ARENA_MAX, 2);
#endif
}

Napi::Value init(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        limit_arenas();
        init_backends(string_from(info[0], "librariesDir"));
        return info.Env().Undefined();
    });
}

Napi::Value load_pack_at(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        load_pack(string_from(info[0], "path"));
        return info.Env().Undefined();
    });
}

Napi::Value rest(const Napi::CallbackInfo & info) {
    Worker::rest();
    return info.Env().Undefined();
}

Napi::Value version(const Napi::CallbackInfo & info) {
    Napi::Object o = Napi::Object::New(info.Env());
    o.Set("ggml", ggml_version());
    o.Set("addon", "1");
    return o;
}

Napi::Value devices(const Napi::CallbackInfo & info) {
    Napi::Array out = Napi::Array::New(info.Env());
    for (const DeviceInfo & d : list_devices()) {
        Napi::Object o = Napi::Object::New(info.Env());
        o.Set("name", d.name);
        o.Set("description", d.description);
        o.Set("kind", d.kind);
        o.Set("memoryFree", double(d.memory_free));
        o.Set("memoryTotal", double(d.memory_total));
        out.Set(out.Length(), o);
    }
    return out;
}

Napi::Value read_gguf(const Napi::CallbackInfo & info) {
    return guarded(info.Env(),
                   [&]() -> Napi::Value { return gguf_info(info.Env(), GgufFile(string_from(info[0], "path"))); });
}

// As read_gguf, on a separate thread: a large vocabulary takes longer than a window should block.
Napi::Value read_gguf_aside(const Napi::CallbackInfo & info) {
    struct Header {
        std::shared_ptr<GgufFile> file;
        EngineChoice choice;
    };
    const std::string path = string_from(info[0], "path");
    const auto work = [path] {
        auto file = std::make_shared<GgufFile>(path);
        return Header{file, choose_engine(*file)};
    };
    return run_async(info.Env(), std::make_shared<Worker>(), work,
                     [](Napi::Env e, Header & h) { return gguf_info(e, *h.file, h.choice); });
}

Napi::Value fingerprint_gguf(const Napi::CallbackInfo & info) {
    const std::string path = string_from(info[0], "path");
    return run_async(info.Env(), std::make_shared<Worker>(), [path] { return to_hex(GgufFile(path).fingerprint()); },
                     [](Napi::Env e, std::string & hex) { return Napi::String::New(e, hex); });
}

Napi::Value check_adapter(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        const std::string path = string_from(info[0], "path");
        Adapter(path, GgufFile(string_from(info[1], "model")));
        return info.Env().Undefined();
    });
}

ModelOptions model_options(const Napi::Value & v) {
    Napi::Object o = object_from(v, "options");
    ModelOptions options{int_from(o.Get("threads"), "options.threads"), string_from(o.Get("device"), "options.device")};
    const Napi::Value kv = o.Get("kvDtype");
    if (!kv.IsUndefined()) {
        options.kv = guarded(v.Env(), [&] { return parse_dtype(string_from(kv, "options.kvDtype")); });
        if (is_packed(options.kv)) throw Napi::TypeError::New(v.Env(), "options.kvDtype must be f16 or q8_0");
    }
    const Napi::Value adapter = o.Get("adapter");
    if (!adapter.IsUndefined()) options.adapter = string_from(adapter, "options.adapter");
    return options;
}

// Loads a model of class M, which JavaScript gets as an Object.
template <typename M, typename Object> Napi::Value load_model(const Napi::CallbackInfo & info) {
    Napi::Env env = info.Env();
    const std::string path = string_from(info[0], "path");
    const ModelOptions options = model_options(info[1]);
    Callback callback(env, info[2]);
    auto worker = std::make_shared<Worker>();
    const auto work = [=] {
        const auto progress = [&](float f) { callback.call([f](Napi::Env e) { return Napi::Number::New(e, f); }); };
        auto model = std::make_shared<M>(path, options, progress);
        if constexpr (std::is_same_v<M, Model>) worker->share(model->scheduler());
        return Loaded<M>{std::move(model), worker};
    };
    return run_async(env, worker, work, Object::create, {callback});
}

Napi::Value read_header(const Napi::CallbackInfo & info) {
    const std::string path = string_from(info[0], "path");
    const auto work = [path] { return read_chunk_header(InputFile(path), path); };
    return run_apart(info.Env(), instance(info.Env()).spare, work, [](Napi::Env env, ChunkHeader & h) -> Napi::Value {
        Napi::Object o = Napi::Object::New(env);
        o.Set("version", h.version);
        o.Set("fingerprint", to_hex(h.shape.fingerprint));
        o.Set("prefixHash", to_hex(h.shape.prefix_hash));
        o.Set("dtype", dtype_name(h.shape.dtype));
        o.Set("layers", h.shape.n_layer());
        o.Set("tokens", tokens_to(env, h.tokens));
        o.Set("fileBytes", double(h.file_bytes));
        return o;
    });
}

Napi::Value verify_chunk(const Napi::CallbackInfo & info) {
    const std::string path = string_from(info[0], "path");
    return run_apart(info.Env(), instance(info.Env()).spare, [=] { verify_chunk_file(path); });
}

// Ends threads without work and gives freed memory back to the system. glibc keeps what lies below memory in use, and
// the buffers of answers come and go between objects that stay; other C libraries do it themselves.
Napi::Value release_memory(const Napi::CallbackInfo & info) {
    instance(info.Env()).spare->end_idle();
    return run_async(info.Env(), instance(info.Env()).io, [] {
#if defined(__GLIBC__)
        malloc_trim(0);
#endif
    });
}

Napi::Value create_abort(const Napi::CallbackInfo & info) { return instance(info.Env()).abort.New({}); }

Napi::Value load_reference(const Napi::CallbackInfo & info) {
    Napi::Env env = info.Env();
    const std::string path = string_from(info[0], "path");
    Napi::Object o = object_from(info[1], "options");
    ReferenceOptions options;
    options.context = int_from(o.Get("contextTokens"), "options.contextTokens");
    options.threads = int_from(o.Get("threads"), "options.threads");
    options.ubatch = int_from(o.Get("ubatch"), "options.ubatch");
    options.flash_attention = o.Get("flashAttention").ToBoolean();
    options.device = string_from(o.Get("device"), "options.device");
    const Napi::Value adapter = o.Get("adapter");
    if (!adapter.IsUndefined()) options.adapter = string_from(adapter, "options.adapter");
    return run_async(env, instance(env).io, [=] { return std::make_shared<LlamaReference>(path, options); },
                     ReferenceObject::create);
}

Napi::Value load_embedder(const Napi::CallbackInfo & info) {
    const std::string path = string_from(info[0], "path");
    const ModelOptions plain = model_options(info[1]);
    EmbedderOptions options{plain.threads, plain.device};
    const Napi::Object o = info[1].As<Napi::Object>();
    const auto given = [&](const char * key) { return !o.Get(key).IsUndefined(); };
    if (given("pooling")) options.pooling = string_from(o.Get("pooling"), "options.pooling");
    if (given("end")) options.end = string_from(o.Get("end"), "options.end");
    if (given("tokens")) options.tokens = int_from(o.Get("tokens"), "options.tokens");
    auto worker = std::make_shared<Worker>();
    return run_async(info.Env(), worker, [=] { return std::make_shared<Embedder>(path, options); },
                     [worker](Napi::Env e, auto & embedder) { return EmbedderObject::create(e, embedder, worker); });
}

Napi::Value create_vector_scan(const Napi::CallbackInfo & info) {
    return guarded(info.Env(), [&]() -> Napi::Value {
        const int dimension = int_from(info[0], "dimension");
        return VectorScanObject::create(info.Env(), std::make_shared<VectorScan>(size_t(std::max(0, dimension))));
    });
}

Napi::Object start(Napi::Env env, Napi::Object exports) {
    auto * data = new Instance;
    data->model = Napi::Persistent(ModelObject::define(env));
    data->session = Napi::Persistent(SessionObject::define(env));
    data->chunk = Napi::Persistent(ChunkObject::define(env));
    data->abort = Napi::Persistent(AbortObject::define(env));
    data->reference = Napi::Persistent(ReferenceObject::define(env));
    data->embedder = Napi::Persistent(EmbedderObject::define(env));
    data->llama_model = Napi::Persistent(LlamaModelObject::define(env));
    data->vector_scan = Napi::Persistent(VectorScanObject::define(env));
    env.SetInstanceData(data);
    const auto add = [&](const char * name, Napi::Value (*f)(const Napi::CallbackInfo &)) {
        exports.Set(name, Napi::Function::New(env, f, name));
    };
    add("init", init);
    add("loadPack", load_pack_at);
    add("rest", rest);
    add("version", version);
    add("listDevices", devices);
    add("readGguf", read_gguf);
    add("readGgufAside", read_gguf_aside);
    add("fingerprintGguf", fingerprint_gguf);
    add("checkAdapter", check_adapter);
    add("loadModel", load_model<Model, ModelObject>);
    add("loadLlamaModel", load_model<LlamaModel, LlamaModelObject>);
    add("readChunkHeader", read_header);
    add("verifyChunk", verify_chunk);
    add("releaseMemory", release_memory);
    add("createAbort", create_abort);
    add("loadReference", load_reference);
    add("loadEmbedder", load_embedder);
    add("createVectorScan", create_vector_scan);
    return exports;
}

}  // namespace

NODE_API_MODULE(kvasir, start)

}  // namespace kvasir::addon
