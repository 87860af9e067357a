#include "kv_cache.h"

#include <map>

#include "convert.h"

namespace kvasir {

namespace {

std::vector<float> rows_of(const ggml_tensor * cache, int begin, int count) {
    std::vector<uint16_t> half(size_t(cache->ne[0]) * size_t(count));
    ggml_backend_tensor_get(cache, half.data(), cache->nb[1] * size_t(begin), half.size() * sizeof(uint16_t));
    std::vector<float> out(half.size());
    f16_to_f32(half.data(), out.data(), out.size());
    return out;
}

}  // namespace

KvCache::KvCache(const Weights & weights, int capacity) : capacity_((capacity + 255) / 256 * 256) {
    const Hparams & hp = weights.hparams();
    std::map<Compute *, ggml_context *> by_device;
    for (int il = 0; il < hp.n_layer; ++il) {
        ggml_context *& ctx = by_device[&weights.device(il)];
        if (!ctx) ctx = contexts_.emplace_back(make_context(size_t(hp.n_layer) * 2)).get();
        k_.push_back(ggml_new_tensor_2d(ctx, GGML_TYPE_F16, hp.kv_dim(), capacity_));
        v_.push_back(ggml_new_tensor_2d(ctx, GGML_TYPE_F16, hp.kv_dim(), capacity_));
    }
    for (auto & [device, ctx] : by_device) {
        buffers_.push_back(allocate(ctx, device->buffer_type()));
    }
}

void KvCache::clear() {
    for (auto & buffer : buffers_) ggml_backend_buffer_clear(buffer.get(), 0);
}

std::vector<float> KvCache::keys(int il, int begin, int count) const { return rows_of(k(il), begin, count); }
std::vector<float> KvCache::values(int il, int begin, int count) const { return rows_of(v(il), begin, count); }

}  // namespace kvasir
