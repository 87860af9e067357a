// A part of the mean change of recomputed tokens is added to the stored tokens around them: measured while a layer's
// keys and values are written, added before attention reads them. On the host one pass adds it; other devices use ggml
// ops.
#include <algorithm>
#include <functional>

#include "engine/error.h"
#include "engine/kernels/convert.h"
#include "forward.h"

namespace kvasir {

namespace {

struct ShiftJob {
    const KvShift * shift;
    const std::vector<int32_t> *positions, *group;
    const RopeTable * table;  // null: keys are not rotated
    const KvCache * cache;
    uint8_t *k, *v;  // of the layer, for all slots
    int heads, head_dim;
};

// A ggml custom op, so that it runs on the pool's threads.
void shift_op(ggml_tensor *, int ith, int nth, void * userdata) {
    const ShiftJob & job = *static_cast<ShiftJob *>(userdata);
    const size_t kv_dim = size_t(job.heads) * size_t(job.head_dim), total = job.positions->size();
    const KvDtype dtype = job.cache->dtype();
    const size_t row_bytes = ggml_row_size(dtype_ggml(dtype), int64_t(kv_dim));
    std::vector<float> row(kv_dim), by(kv_dim);
    const auto add = [&](uint8_t * at) {
        kv_to_f32(dtype, at, row.data(), kv_dim);
        for (size_t i = 0; i < kv_dim; ++i) row[i] += by[i];
        kv_from_f32(dtype, row.data(), at, kv_dim);
    };
    for (size_t t = total * size_t(ith) / size_t(nth); t < total * size_t(ith + 1) / size_t(nth); ++t) {
        const int32_t position = (*job.positions)[t];
        const size_t at = size_t(job.cache->slot(position)) * row_bytes, of = size_t((*job.group)[t]) * kv_dim;
        std::copy_n(job.shift->k.begin() + std::ptrdiff_t(of), kv_dim, by.begin());
        if (job.table)
            rotate_heads(by.data(), job.heads, job.head_dim, job.table->params(), job.table->row(position));
        add(job.k + at);
        std::copy_n(job.shift->v.begin() + std::ptrdiff_t(of), kv_dim, by.begin());
        add(job.v + at);
    }
}

// The factor by which rotation scales a vector, as in YaRN.
float rotation_scale(const RopeParams & rope) {
    std::vector<float> row(size_t(rope.n_rot));
    rope_row(rope, 0, row.data());
    return row.front();
}

}  // namespace

void Forward::measure_shift(LayerGraph & l, ggml_tensor * k, ggml_tensor * v) {
    ggml_context * c = l.c;
    const LayerShape & shape = weights_.hparams().layer(l.il);
    ShiftGraph & s = l.shift;
    s.back = ggml_new_tensor_1d(c, GGML_TYPE_I32, l.b.count);
    s.groups = ggml_new_tensor_2d(c, GGML_TYPE_F32, l.b.count, l.call.shift->groups);
    for (ggml_tensor * t : {s.back, s.groups}) ggml_set_input(t);
    const auto apart = [&](ggml_tensor * fresh, ggml_tensor * cache) {
        return ggml_sub(c, fresh, ggml_get_rows(c, cache, l.b.slots));
    };
    const auto sums = [&](ggml_tensor * rows) {  // [kv_dim, count] → [kv_dim, groups]
        ggml_tensor * y = ggml_mul_mat(c, ggml_cont(c, ggml_transpose(c, rows)), s.groups);
        ggml_mul_mat_set_prec(y, GGML_PREC_F32);
        ggml_set_output(y);
        ggml_build_forward_expand(l.g, y);
        return y;
    };
    ggml_tensor * turned = ggml_reshape_3d(c, apart(k, l.pool.k(l.il)), shape.head_dim, shape.n_head_kv, l.b.count);
    s.k = sums(ggml_reshape_2d(c, rope(c, turned, s.back, l.il), shape.kv_dim(), l.b.count));
    s.v = sums(apart(ggml_reshape_2d(c, v, shape.kv_dim(), l.b.count), l.pool.v(l.il)));
}

void Forward::set_shift_inputs(const LayerGraph & l, const int32_t * positions) const {
    const KvShift & shift = *l.call.shift;
    const auto count = size_t(l.b.count);
    std::vector<int32_t> back(count);
    std::vector<float> groups(count * size_t(shift.groups));
    for (size_t r = 0; r < count; ++r) {
        back[r] = -positions[r];
        const int32_t group = shift.group[size_t(l.b.begin) + r];
        if (group >= 0) groups[size_t(group) * count + r] = 1;
    }
    // Null if nothing is rotated.
    if (l.shift.back->buffer) ggml_backend_tensor_set(l.shift.back, back.data(), 0, ggml_nbytes(l.shift.back));
    ggml_backend_tensor_set(l.shift.groups, groups.data(), 0, ggml_nbytes(l.shift.groups));
}

void Forward::add_shift(const LayerGraph & l) const {
    KvShift & shift = *l.call.shift;
    const LayerShape & shape = weights_.hparams().layer(l.il);
    std::vector<float> sums(shift.k.size());
    ggml_backend_tensor_get(l.shift.v, sums.data(), 0, ggml_nbytes(l.shift.v));
    std::transform(sums.begin(), sums.end(), shift.v.begin(), shift.v.begin(), std::plus<>());
    ggml_backend_tensor_get(l.shift.k, sums.data(), 0, ggml_nbytes(l.shift.k));
    // Rotating back and forth scaled the rotated dimensions twice.
    const RopeParams * rope = shape.rope < 0 ? nullptr : &weights_.hparams().ropes[size_t(shape.rope)];
    const float scale = rope ? rotation_scale(*rope) : 1;
    for (size_t i = 0; i < sums.size(); ++i) {
        const bool rotated = rope && int(i) % shape.head_dim < rope->n_rot;
        shift.k[i] += rotated ? sums[i] / (scale * scale) : sums[i];
    }
}

void Forward::shift(int il, const KvShift & shift, const std::vector<int32_t> & positions,
                    const std::vector<int32_t> & group, const KvCache & cache) {
    if (positions.empty()) return;
    Device & device = weights_.device(il);
    if (!device.is_host()) return shift_with_graph(il, shift, positions, group, cache);
    const LayerShape & shape = weights_.hparams().layer(il);
    RopeTable * table = shape.rope < 0 ? nullptr : &tables_[size_t(shape.rope)];
    if (table) table->grow(positions.back() + 1);
    auto * k = static_cast<uint8_t *>(cache.k(il)->data);
    auto * v = static_cast<uint8_t *>(cache.v(il)->data);
    ShiftJob job{&shift, &positions, &group, table, &cache, k, v, shape.n_head_kv, shape.head_dim};
    device.run(shift_op, &job);
}

void Forward::shift_with_graph(int il, const KvShift & shift, const std::vector<int32_t> & positions,
                               const std::vector<int32_t> & group, const KvCache & cache) {
    Device & device = weights_.device(il);
    const LayerShape & shape = weights_.hparams().layer(il);
    ggml_context * c = device.graph_context();
    ggml_cgraph * g = ggml_new_graph_custom(c, Device::kMaxNodes, false);
    std::vector<std::pair<ggml_tensor *, const void *>> inputs;
    const auto input = [&](ggml_type type, int64_t width, int64_t rows, const void * values) {
        ggml_tensor * t = ggml_new_tensor_2d(c, type, width, rows);
        ggml_set_input(t);
        inputs.emplace_back(t, values);
        return t;
    };
    const auto n = int64_t(positions.size());
    std::vector<int32_t> slots;
    for (int32_t p : positions) slots.push_back(cache.slot(p));
    ggml_tensor *pos = input(GGML_TYPE_I32, n, 1, positions.data()), *to = input(GGML_TYPE_I32, n, 1, slots.data()),
                *of = input(GGML_TYPE_I32, n, 1, group.data());
    const auto by = [&](const std::vector<float> & sums) {
        return ggml_get_rows(c, input(GGML_TYPE_F32, shape.kv_dim(), shift.groups, sums.data()), of);
    };
    const auto add = [&](ggml_tensor * rows, ggml_tensor * cached) {
        rows = ggml_add(c, ggml_get_rows(c, cached, to), rows);
        ggml_build_forward_expand(g, ggml_set_rows(c, cached, rows, to));
    };
    ggml_tensor * k = rope(c, ggml_reshape_3d(c, by(shift.k), shape.head_dim, shape.n_head_kv, n), pos, il);
    add(ggml_reshape_2d(c, k, shape.kv_dim(), n), cache.k(il));
    add(by(shift.v), cache.v(il));
    device.prepare(g);
    for (const auto & [t, values] : inputs)
        if (t->buffer) ggml_backend_tensor_set(t, values, 0, ggml_nbytes(t));  // null if nothing is rotated
    device.run(g, nullptr);
}

}  // namespace kvasir
