#include "addon/convert.h"
#include "addon/objects.h"
#include "engine/scheduling/cores.h"

namespace kvasir::addon {

namespace {

// Ids, which JavaScript has as numbers.
std::vector<int64_t> ids_from(const Napi::Value & v, const char * name) {
    if (!v.IsTypedArray() || v.As<Napi::TypedArray>().TypedArrayType() != napi_float64_array)
        throw Napi::TypeError::New(v.Env(), std::string(name) + " must be a Float64Array");
    const auto a = v.As<Napi::Float64Array>();
    return {a.Data(), a.Data() + a.ElementLength()};
}

std::vector<float> floats_from(const Napi::Value & v, size_t length, const char * name) {
    if (!v.IsTypedArray() || v.As<Napi::TypedArray>().TypedArrayType() != napi_float32_array ||
        v.As<Napi::TypedArray>().ElementLength() != length)
        throw Napi::TypeError::New(v.Env(), std::string(name) + " must be a Float32Array of the right length");
    const auto a = v.As<Napi::Float32Array>();
    return {a.Data(), a.Data() + a.ElementLength()};
}

VectorScope scope_from(const Napi::Value & v) {
    const Napi::Object o = object_from(v, "scope");
    const auto set_of = [](const std::vector<int64_t> & ids) {
        return std::unordered_set<int64_t>(ids.begin(), ids.end());
    };
    VectorScope scope;
    scope.sets = set_of(ids_from(o.Get("sets"), "scope.sets"));
    const std::vector<int64_t> pairs = ids_from(o.Get("standIns"), "scope.standIns");
    for (size_t i = 0; i + 1 < pairs.size(); i += 2) scope.stand_ins[pairs[i]] = pairs[i + 1];
    if (!o.Get("documents").IsUndefined()) scope.documents = set_of(ids_from(o.Get("documents"), "scope.documents"));
    return scope;
}

Napi::Value result_to(Napi::Env env, const VectorScanResult & r) {
    auto chunks = Napi::Float64Array::New(env, r.candidates.size());
    auto bounds = Napi::Float32Array::New(env, r.candidates.size());
    for (size_t i = 0; i < r.candidates.size(); ++i) {
        chunks[i] = double(r.candidates[i].chunk);
        bounds[i] = r.candidates[i].bound;
    }
    Napi::Object o = Napi::Object::New(env);
    o.Set("chunks", chunks);
    o.Set("bounds", bounds);
    o.Set("count", double(r.count));
    o.Set("mean", r.mean);
    o.Set("deviation", r.deviation);
    return o;
}

}  // namespace

Napi::Function VectorScanObject::define(Napi::Env env) {
    return DefineClass(env, "VectorScan",
                       {InstanceMethod<&VectorScanObject::put>("put"),
                        InstanceMethod<&VectorScanObject::remove>("remove"),
                        InstanceMethod<&VectorScanObject::nearest>("nearest"),
                        InstanceMethod("dispose", &VectorScanObject::dispose)});
}

Napi::Object VectorScanObject::create(Napi::Env env, std::shared_ptr<VectorScan> scan) {
    return wrap(env.GetInstanceData<Instance>()->vector_scan, std::move(scan), std::make_shared<Worker>());
}

Napi::Value VectorScanObject::put(const Napi::CallbackInfo & info) {
    const auto scan = object(info.Env());
    const std::vector<int64_t> ids = ids_from(info[0], "places");
    if (ids.size() % 3) throw Napi::TypeError::New(info.Env(), "places must have three ids for each vector");
    std::vector<VectorPlace> places;
    for (size_t i = 0; i < ids.size(); i += 3) places.push_back({ids[i], ids[i + 1], ids[i + 2]});
    const size_t length = places.size() * scan->dimension();
    return run_async(info.Env(), worker_, [scan, places, vectors = floats_from(info[1], length, "vectors")] {
        scan->put(places, vectors.data());
    });
}

Napi::Value VectorScanObject::remove(const Napi::CallbackInfo & info) {
    return run_async(info.Env(), worker_, [scan = object(info.Env()), chunks = ids_from(info[0], "chunks")] {
        scan->remove(chunks);
    });
}

Napi::Value VectorScanObject::nearest(const Napi::CallbackInfo & info) {
    const auto scan = object(info.Env());
    const int most = int_from(info[2], "most");
    if (most < 1) throw Napi::TypeError::New(info.Env(), "most must be 1 or more");
    const auto work = [scan, query = floats_from(info[0], scan->dimension(), "query"), scope = scope_from(info[1]),
                       most] { return scan->scan(query.data(), scope, size_t(most), available_cores()); };
    return run_async(info.Env(), worker_, work, result_to);
}

}  // namespace kvasir::addon
