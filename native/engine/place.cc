// Realignment: stored keys carry no RoPE, so placing a chunk, or a part of one, is one exact rotation to where it stands (CacheBlend §4.3
// calls it positional recovery). On the host a table and one pass do it; elsewhere ggml's own rope does.
#include <cstring>

#include "convert.h"
#include "error.h"
#include "forward.h"

namespace kvasir {

namespace {

struct PlaceJob {
    const std::vector<Forward::Placement> * placements;
    const RopeTable * table;
    const KvCache * cache;
    uint8_t *k, *v;  // the layer's, of all slots
    int heads, head_dim;
    size_t total;
};

void place_token(const PlaceJob & job, const Forward::Placement & p, size_t token, std::vector<float> & row) {
    const size_t row_bytes = p.chunk->shape().row_bytes(), kv_dim = row.size();
    const uint8_t * k = p.k() + token * row_bytes;
    const uint8_t * v = p.v() + token * row_bytes;
    const int32_t position = p.position + int32_t(token);
    const KvDtype from = p.chunk->shape().dtype, to = job.cache->dtype();
    const size_t at = size_t(job.cache->slot(position)) * ggml_row_size(dtype_ggml(to), int64_t(kv_dim));
    kv_to_f32(from, k, row.data(), kv_dim);
    rotate_heads(row.data(), job.heads, job.head_dim, job.table->params(), job.table->row(position));
    kv_from_f32(to, row.data(), job.k + at, kv_dim);
    if (from == to) {
        std::memcpy(job.v + at, v, row_bytes);
    } else {
        kv_to_f32(from, v, row.data(), kv_dim);
        kv_from_f32(to, row.data(), job.v + at, kv_dim);
    }
}

// A ggml custom op, so that it runs on the pool's threads.
void place_op(ggml_tensor *, int ith, int nth, void * userdata) {
    const PlaceJob & job = *static_cast<PlaceJob *>(userdata);
    std::vector<float> row(size_t(job.heads) * job.head_dim);
    const size_t begin = job.total * ith / nth, end = job.total * (ith + 1) / nth;
    size_t at = 0;
    for (const auto & p : *job.placements) {
        const size_t n = p.range.count;
        for (size_t t = begin > at ? begin - at : 0; t < n && at + t < end; ++t) place_token(job, p, t, row);
        at += n;
    }
}

}  // namespace

void Forward::place(int il, const std::vector<Placement> & placements, const KvCache & cache) {
    if (placements.empty()) return;
    Compute & device = weights_.device(il);
    if (!device.is_host()) return place_with_graph(il, placements, cache);
    const Hparams & hp = weights_.hparams();
    PlaceJob job{&placements, &table_, &cache, static_cast<uint8_t *>(cache.k(il)->data), static_cast<uint8_t *>(cache.v(il)->data),
                 hp.n_head_kv, hp.head_dim, 0};
    for (const auto & p : placements) {
        job.total += p.range.count;
        table_.grow(p.position + int32_t(p.range.count));
    }
    ggml_context * c = device.graph_context();
    ggml_cgraph * g = ggml_new_graph_custom(c, 4, false);
    ggml_build_forward_expand(g, ggml_custom_4d(c, GGML_TYPE_F32, 1, 1, 1, 1, nullptr, 0, place_op, GGML_N_TASKS_MAX, &job));
    device.prepare(g);
    device.run(g, nullptr);
}

void Forward::place_with_graph(int il, const std::vector<Placement> & placements, const KvCache & cache) {
    for (KvDtype dtype : {KvDtype::f16, KvDtype::q8_0}) {
        std::vector<Placement> alike;
        for (const Placement & p : placements)
            if (p.chunk->shape().dtype == dtype) alike.push_back(p);
        if (!alike.empty()) place_alike(il, alike, dtype, cache);
    }
}

// One graph for all: a launch and an allocation a chunk would add up.
void Forward::place_alike(int il, const std::vector<Placement> & placements, KvDtype dtype, const KvCache & cache) {
    Compute & device = weights_.device(il);
    const Hparams & hp = weights_.hparams();
    std::vector<int32_t> positions, rows;
    for (const Placement & p : placements)
        for (size_t i = 0; i < p.range.count; ++i) positions.push_back(p.position + int32_t(i)), rows.push_back(cache.slot(positions.back()));
    const auto n = int64_t(positions.size());
    ggml_context * c = device.graph_context();
    ggml_cgraph * g = ggml_new_graph_custom(c, 32, false);
    ggml_tensor * k = ggml_new_tensor_2d(c, dtype_ggml(dtype), hp.kv_dim(), n);
    ggml_tensor * v = ggml_new_tensor_2d(c, dtype_ggml(dtype), hp.kv_dim(), n);
    ggml_tensor * pos = ggml_new_tensor_1d(c, GGML_TYPE_I32, n);
    ggml_tensor * slots = ggml_new_tensor_1d(c, GGML_TYPE_I32, n);
    for (ggml_tensor * t : {k, v, pos, slots}) ggml_set_input(t);
    ggml_tensor * k32 = ggml_reshape_3d(c, ggml_cast(c, k, GGML_TYPE_F32), hp.head_dim, hp.n_head_kv, n);
    k32 = ggml_reshape_2d(c, rope(c, k32, pos, device), hp.kv_dim(), n);
    ggml_build_forward_expand(g, ggml_set_rows(c, cache.k(il), k32, slots));
    ggml_build_forward_expand(g, ggml_set_rows(c, cache.v(il), ggml_cast(c, v, GGML_TYPE_F32), slots));
    device.prepare(g);
    ggml_backend_tensor_set(pos, positions.data(), 0, ggml_nbytes(pos));
    ggml_backend_tensor_set(slots, rows.data(), 0, ggml_nbytes(slots));
    size_t at = 0;
    for (const Placement & p : placements) {
        const size_t bytes = p.range.count * p.chunk->shape().row_bytes();
        ggml_backend_tensor_set(k, p.k(), at, bytes);
        ggml_backend_tensor_set(v, p.v(), at, bytes);
        at += bytes;
    }
    device.run(g, nullptr);
}

}  // namespace kvasir
