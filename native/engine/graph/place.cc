// Realignment: stored keys have no RoPE, so placing a chunk, or a part of one, is one exact rotation to its position
// (CacheBlend §4.3 calls it positional recovery). On the host a table and one pass do it; other devices use ggml's
// rope.
#include <algorithm>
#include <cstring>

#include "engine/error.h"
#include "engine/kernels/convert.h"
#include "forward.h"

namespace kvasir {

namespace {

struct PlaceJob {
    const std::vector<Forward::Placement> * placements;
    const RopeTable * table;  // null: keys are not rotated
    const KvCache * cache;
    uint8_t *k, *v;  // of the layer, for all slots
    int il, heads, head_dim;
    size_t total;
};

void place_token(const PlaceJob & job, const Forward::Placement & p, size_t token, std::vector<float> & row) {
    const size_t row_bytes = p.chunk->shape().row_bytes(job.il), kv_dim = row.size();
    const uint8_t * k = p.k(row_bytes) + token * row_bytes;
    const uint8_t * v = p.v(row_bytes) + token * row_bytes;
    const int32_t position = p.position + int32_t(token);
    const KvDtype from = placed_dtype(p.chunk->shape().dtype), to = job.cache->dtype();
    const size_t at = size_t(job.cache->slot(position)) * ggml_row_size(dtype_ggml(to), int64_t(kv_dim));
    const auto copy = [&](const uint8_t * in, uint8_t * out) {
        if (from == to) return void(std::memcpy(out, in, row_bytes));
        kv_to_f32(from, in, row.data(), kv_dim);
        kv_from_f32(to, row.data(), out, kv_dim);
    };
    copy(v, job.v + at);
    if (!job.table) return copy(k, job.k + at);
    kv_to_f32(from, k, row.data(), kv_dim);
    rotate_heads(row.data(), job.heads, job.head_dim, job.table->params(), job.table->row(position));
    kv_from_f32(to, row.data(), job.k + at, kv_dim);
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
    Device & device = weights_.device(il);
    if (!device.is_host()) return place_with_graph(il, placements, cache);
    const Hparams & hp = weights_.hparams();
    auto * k = static_cast<uint8_t *>(cache.k(il)->data);
    auto * v = static_cast<uint8_t *>(cache.v(il)->data);
    const LayerShape & shape = hp.layer(il);
    const int rope = shape.rope;
    RopeTable * table = rope < 0 ? nullptr : &tables_[size_t(rope)];
    PlaceJob job{&placements, table, &cache, k, v, il, shape.n_head_kv, shape.head_dim, 0};
    for (const auto & p : placements) {
        job.total += p.range.count;
        if (table) table->grow(p.position + int32_t(p.range.count));
    }
    device.run(place_op, &job);
}

// One graph for many chunks: one launch and one allocation per chunk would add up.
void Forward::place_with_graph(int il, const std::vector<Placement> & placements, const KvCache & cache) {
    constexpr size_t kSources = 16;  // maximum that fits Device::kMaxNodes
    std::vector<std::vector<Placement>> by_source;
    for (const Placement & p : placements) {
        const auto same = [&](const auto & known) { return known.front().stored.rows == p.stored.rows; };
        const auto known = std::find_if(by_source.begin(), by_source.end(), same);
        (known == by_source.end() ? by_source.emplace_back() : *known).push_back(p);
    }
    for (size_t i = 0; i < by_source.size(); i += kSources) {
        const std::span all(by_source);
        place_sources(il, all.subspan(i, std::min(kSources, all.size() - i)), cache);
    }
}

// The placements of each source share the rows of one tensor.
void Forward::place_sources(int il, std::span<const std::vector<Placement>> sources, const KvCache & cache) {
    Device & device = weights_.device(il);
    const LayerShape & shape = weights_.hparams().layer(il);
    ggml_context * c = device.graph_context();
    ggml_cgraph * g = ggml_new_graph_custom(c, Device::kMaxNodes, false);
    std::vector<std::pair<ggml_tensor *, std::vector<int32_t>>> inputs;
    const auto input = [&](std::vector<int32_t> values) {
        ggml_tensor * t = ggml_new_tensor_1d(c, GGML_TYPE_I32, int64_t(values.size()));
        ggml_set_input(t);
        inputs.emplace_back(t, std::move(values));
        return t;
    };
    for (const std::vector<Placement> & placements : sources) {
        std::vector<int32_t> k_rows, v_rows, positions, slots;
        for (const Placement & p : placements) {
            for (size_t i = 0; i < p.range.count; ++i) {
                k_rows.push_back(int32_t(p.stored.first + int64_t(p.range.begin + i)));
                v_rows.push_back(k_rows.back() + int32_t(p.chunk->n_tokens()));
                positions.push_back(p.position + int32_t(i));
                slots.push_back(cache.slot(positions.back()));
            }
        }
        const auto n = int64_t(positions.size());
        ggml_tensor *from_k = input(std::move(k_rows)), *from_v = input(std::move(v_rows)),
                    *pos = input(std::move(positions)), *to = input(std::move(slots));
        ggml_tensor * stored = placements.front().stored.rows;
        // get_rows returns f32 for any type.
        ggml_tensor * k = ggml_reshape_3d(c, ggml_get_rows(c, stored, from_k), shape.head_dim, shape.n_head_kv, n);
        k = ggml_reshape_2d(c, rope(c, k, pos, il), shape.kv_dim(), n);
        ggml_build_forward_expand(g, ggml_set_rows(c, cache.k(il), k, to));
        ggml_build_forward_expand(g, ggml_set_rows(c, cache.v(il), ggml_get_rows(c, stored, from_v), to));
    }
    device.prepare(g);
    for (const auto & [t, values] : inputs)
        if (t->buffer) ggml_backend_tensor_set(t, values.data(), 0, ggml_nbytes(t));  // null if nothing is rotated
    device.run(g, nullptr);
}

}  // namespace kvasir
