#include "attention.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/aligned.h"

namespace kvasir {

namespace {

// Views the same bytes as rows of another type and length.
ggml_tensor * read_as(ggml_context * c, ggml_tensor * t, ggml_type type, int64_t width, int64_t rows) {
    ggml_tensor * view = ggml_view_1d(c, t, 1, 0);
    view->type = type;
    view->ne[0] = width, view->ne[1] = rows;
    view->nb[0] = ggml_type_size(type), view->nb[1] = ggml_row_size(type, width);
    view->nb[2] = view->nb[3] = view->nb[1] * size_t(rows);
    return view;
}

// Whether the device's ggml_flash_attn_ext() has a kernel for this. CUDA claims to support capped attention scores at
// every head size, but aborts the process at those it leaves out to compile faster (ggml-cuda/fattn-mma-f16.cuh,
// fattn-tile.cuh).
bool has_flash_attention(const Device & device, const ggml_tensor * y, const Hparams & hp, int head_dim) {
    const bool capped = head_dim == 128 || head_dim == 256 || head_dim == 512;
    return (hp.attention_softcap == 0 || capped) && ggml_backend_dev_supports_op(device.dev(), y);
}

// For devices without a flash attention kernel for the model: keys and values [hd, n_kv, n_head_kv].
ggml_tensor * attention_by_products(ggml_context * c, ggml_tensor * q, ggml_tensor * k, ggml_tensor * v,
                                    const AttentionArgs & a, const Hparams & hp) {
    ggml_tensor * scores = ggml_mul_mat(c, k, q);  // [n_kv, rows, heads]
    ggml_mul_mat_set_prec(scores, GGML_PREC_F32);
    ggml_tensor * weights = attention_weights(c, scores, a.mask, hp);
    if (a.sinks) ggml_soft_max_add_sinks(weights, a.sinks);
    ggml_tensor * columns = ggml_cont(c, ggml_transpose(c, ggml_cast(c, v, GGML_TYPE_F32)));  // [n_kv, hd, n_head_kv]
    return ggml_cont(c, ggml_permute(c, ggml_mul_mat(c, columns, weights), 0, 2, 1, 3));      // [hd, heads, rows]
}

ggml_tensor * ggml_attention(ggml_context * c, const Hparams & hp, const AttentionArgs & a) {
    ggml_tensor * q = ggml_permute(c, a.q, 0, 2, 1, 3);  // [hd, rows, heads]
    const int head_dim = int(a.q->ne[0]);
    ggml_tensor * k = kv_heads(c, head_dim, a.k, a.table, a.n_kv);
    ggml_tensor * v = kv_heads(c, head_dim, a.v, a.table, a.n_kv);
    ggml_tensor * y = ggml_flash_attn_ext(c, q, k, v, a.mask, hp.attention_scale, 0.0f, hp.attention_softcap);
    if (a.sinks) ggml_flash_attn_ext_add_sinks(y, a.sinks);
    ggml_flash_attn_ext_set_prec(y, GGML_PREC_F32);
    if (!has_flash_attention(a.device, y, hp, head_dim)) y = attention_by_products(c, q, k, v, a, hp);
    return ggml_reshape_2d(c, y, a.q->ne[0] * a.q->ne[1], a.q->ne[2]);
}

AttentionJob job_of(const ggml_tensor * q, const ggml_tensor * k) {
    AttentionJob job{};
    job.rows = int(q->ne[2]), job.n_head = int(q->ne[1]), job.head_dim = int(q->ne[0]);
    job.n_head_kv = int(k->ne[0]) / job.head_dim;
    job.q_stride = q->nb[2] / sizeof(float);
    job.type = k->type == GGML_TYPE_Q8_0 ? KvDtype::q8_0 : KvDtype::f16;
    return job;
}

}  // namespace

ggml_tensor * kv_heads(ggml_context * c, int head_dim, ggml_tensor * cache, const BlockTable & table, int n) {
    const int64_t kv_dim = cache->ne[0], heads = kv_dim / head_dim;
    const size_t head = ggml_row_size(cache->type, head_dim);
    if (table.first_row >= 0) {
        return ggml_view_3d(c, cache, head_dim, n, heads, cache->nb[1], head,
                            size_t(table.first_row) * cache->nb[1]);
    }
    // Whole blocks as rows of f32, whatever their bits mean: get_rows copies f32 unchanged and converts all other
    // types.
    const int64_t block = int64_t(ggml_row_size(cache->type, kv_dim) * kKvBlock / sizeof(float));
    ggml_tensor * all = read_as(c, cache, GGML_TYPE_F32, block, cache->ne[1] / kKvBlock);
    const int blocks = (n + kKvBlock - 1) / kKvBlock;
    ggml_tensor * copied = ggml_get_rows(c, all, ggml_view_1d(c, table.ids, blocks, 0));
    ggml_tensor * rows = read_as(c, copied, cache->type, kv_dim, int64_t(blocks) * kKvBlock);
    return ggml_view_3d(c, rows, head_dim, n, heads, rows->nb[1], head, 0);
}

ggml_tensor * attention_weights(ggml_context * c, ggml_tensor * scores, ggml_tensor * mask, const Hparams & hp) {
    const float scale = hp.attention_scale, cap = hp.attention_softcap;
    if (cap == 0) return ggml_soft_max_ext(c, scores, mask, scale, 0.0f);
    scores = ggml_scale(c, ggml_tanh(c, ggml_scale(c, scores, scale / cap)), cap);
    return ggml_soft_max_ext(c, scores, mask, 1.0f, 0.0f);
}

Attention::Attention(bool coarse) : kernel_(attention_kernel(coarse)) {}

// A ggml custom op, so that it runs on the pool's threads. src: q, k, v (whole caches), positions, table of blocks,
// sinks.
void Attention::op(ggml_tensor * dst, int, int nth, void * userdata) {
    const auto & layer = *static_cast<const OfLayer *>(userdata);
    Attention & a = *layer.self;
    const ggml_tensor * const * src = dst->src;
    AttentionJob job = job_of(src[0], src[1]);
    job.scale = layer.scale, job.softcap = layer.softcap, job.window = layer.window;
    if (src[5]) job.sinks = static_cast<const float *>(src[5]->data);
    job.q = static_cast<const float *>(src[0]->data);
    job.k = static_cast<const uint8_t *>(src[1]->data);
    job.v = static_cast<const uint8_t *>(src[2]->data);
    job.positions = static_cast<const int32_t *>(src[3]->data);
    job.blocks = static_cast<const int32_t *>(src[4]->data), job.block_tokens = kKvBlock;
    job.out = static_cast<float *>(dst->data);
    const int jobs = int(src[4]->ne[1]);  // all rows, or one job per row, each of another session
    job.rows /= jobs;
    thread_local std::vector<float> scratch;
    scratch.resize(std::max(scratch.size(), a.kernel_->scratch_floats(job) + 16));
    for (int i = 0; i < jobs; ++i) {
        a.kernel_->run(job, a.teams_[size_t(i)].shared, nth, align_64(scratch.data()));
        job.q += job.q_stride, job.out += dst->ne[0];
        ++job.positions, job.blocks += src[4]->ne[0];
    }
}

// Allocates memory for `jobs` concurrent jobs of `floats` floats each.
void Attention::make_room(int jobs, size_t floats) {
    while (int(teams_.size()) < jobs) teams_.emplace_back();
    for (int i = 0; i < jobs; ++i) {
        Team & team = teams_[size_t(i)];
        if (team.memory.size() < floats) team.memory.resize(floats);
        team.shared.memory = team.memory.data();
    }
}

bool needs_mask(const Device & device) { return !device.is_host() || !attention_kernel(true); }

ggml_tensor * Attention::build(ggml_context * c, const Hparams & hp, const AttentionArgs & a) {
    if (a.mask) return ggml_attention(c, hp, a);
    const int jobs = int(a.table.ids->ne[1]);
    AttentionJob job = job_of(a.q, a.k);
    job.rows /= jobs;
    make_room(jobs, kernel_->shared_floats(job, a.n_kv));
    ggml_tensor * args[] = {a.q, a.k, a.v, a.pos, a.table.ids, a.sinks};
    OfLayer & layer = a.window ? windowed_ : plain_;
    layer = {this, hp.attention_scale, hp.attention_softcap, a.window};
    const int64_t q_dim = a.q->ne[0] * a.q->ne[1];
    return ggml_custom_4d(c, GGML_TYPE_F32, q_dim, a.q->ne[2], 1, 1, args, a.sinks ? 6 : 5, op, GGML_N_TASKS_MAX,
                          &layer);
}

}  // namespace kvasir
