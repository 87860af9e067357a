#include "attention.h"

#include <algorithm>
#include <cmath>
#include <cstdint>


namespace kvasir {

namespace {

// [head_dim, n_kv, n_head_kv] over a token-major cache.
ggml_tensor * cache_heads(ggml_context * c, const Hparams & hp, ggml_tensor * cache, int n_kv) {
    const size_t head = ggml_row_size(cache->type, hp.head_dim);
    return ggml_view_3d(c, cache, hp.head_dim, n_kv, hp.n_head_kv, cache->nb[1], head, 0);
}

ggml_tensor * ggml_attention(ggml_context * c, const Hparams & hp, const AttentionArgs & a) {
    ggml_tensor * q = ggml_permute(c, a.q, 0, 2, 1, 3);  // [hd, rows, heads]
    ggml_tensor * k = cache_heads(c, hp, a.k, a.n_kv);
    ggml_tensor * v = cache_heads(c, hp, a.v, a.n_kv);
    ggml_tensor * y = ggml_flash_attn_ext(c, q, k, v, a.mask, 1.0f / std::sqrt(float(hp.head_dim)), 0.0f, 0.0f);
    ggml_flash_attn_ext_set_prec(y, GGML_PREC_F32);
    return ggml_reshape_2d(c, y, hp.q_dim(), a.q->ne[2]);
}

// src: q, k, v (whole caches), positions, perhaps a table of blocks.
AttentionJob job_of(const ggml_tensor * q, const ggml_tensor * k) {
    AttentionJob job{};
    job.rows = int(q->ne[2]), job.n_head = int(q->ne[1]), job.head_dim = int(q->ne[0]);
    job.n_head_kv = int(k->ne[0]) / job.head_dim;
    job.q_stride = q->nb[2] / sizeof(float);
    job.scale = 1.0f / std::sqrt(float(job.head_dim));
    return job;
}

}  // namespace

Attention::Attention(bool coarse) : kernel_(attention_kernel(coarse)) {}

// A ggml custom op, so that it runs on the pool's threads.
void Attention::op(ggml_tensor * dst, int, int nth, void * self) {
    auto & a = *static_cast<Attention *>(self);
    const ggml_tensor * const * src = dst->src;
    AttentionJob job = job_of(src[0], src[1]);
    job.q = static_cast<const float *>(src[0]->data);
    job.k = static_cast<const uint16_t *>(src[1]->data);
    job.v = static_cast<const uint16_t *>(src[2]->data);
    job.positions = static_cast<const int32_t *>(src[3]->data);
    if (src[4]) job.blocks = static_cast<const int32_t *>(src[4]->data), job.block_tokens = kKvBlock;
    job.out = static_cast<float *>(dst->data);
    thread_local std::vector<float> scratch;
    scratch.resize(std::max(scratch.size(), a.kernel_->scratch_floats(job) + 16));
    const auto aligned = (reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64;
    a.kernel_->run(job, a.share_, nth, reinterpret_cast<float *>(aligned));
}

bool needs_mask(const Compute & device) { return !device.is_host() || !attention_kernel(true); }

ggml_tensor * Attention::build(ggml_context * c, const Hparams & hp, const AttentionArgs & a) {
    if (a.mask) return ggml_attention(c, hp, a);
    shared_.resize(std::max(shared_.size(), kernel_->shared_floats(job_of(a.q, a.k), a.n_kv)));
    share_.memory = shared_.data();
    ggml_tensor * args[] = {a.q, a.k, a.v, a.pos, a.blocks};
    return ggml_custom_4d(c, GGML_TYPE_F32, hp.q_dim(), a.q->ne[2], 1, 1, args, a.blocks ? 5 : 4, op, GGML_N_TASKS_MAX, this);
}

}  // namespace kvasir
