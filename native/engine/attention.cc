#include "attention.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include "attention_kernel.h"

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

// A ggml custom op, so that it runs on the pool's threads. src: q, k, v (whole caches), positions, perhaps a table of blocks.
void kernel_op(ggml_tensor * dst, int ith, int nth, void * userdata) {
    const ggml_tensor *q = dst->src[0], *k = dst->src[1], *v = dst->src[2], *pos = dst->src[3];
    const auto & kernel = *static_cast<const AttentionKernel *>(userdata);
    AttentionJob job{};
    job.q = static_cast<const float *>(q->data);
    job.k = static_cast<const uint16_t *>(k->data);
    job.v = static_cast<const uint16_t *>(v->data);
    if (dst->src[4]) job.blocks = static_cast<const int32_t *>(dst->src[4]->data), job.block_tokens = kKvBlock;
    job.positions = static_cast<const int32_t *>(pos->data);
    job.out = static_cast<float *>(dst->data);
    job.rows = int(q->ne[2]), job.n_head = int(q->ne[1]), job.head_dim = int(q->ne[0]);
    job.n_head_kv = int(k->ne[0]) / job.head_dim;
    job.q_stride = q->nb[2] / sizeof(float);
    job.scale = 1.0f / std::sqrt(float(job.head_dim));
    thread_local std::vector<float> scratch;
    scratch.resize(kernel.scratch_floats(job) + 16);
    auto aligned = (reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64;
    kernel.run(job, ith, nth, reinterpret_cast<float *>(aligned));
}

}  // namespace

bool needs_mask(int rows, const Hparams & hp, const Compute & device) {
    // One row would leave most of the kernel's lanes idle; ggml splits its keys over the threads instead.
    const AttentionKernel * kernel = attention_kernel();
    return rows < 2 || !device.is_host() || !kernel || hp.group() > kernel->lanes;
}

ggml_tensor * attention(ggml_context * c, const Hparams & hp, const AttentionArgs & a) {
    if (a.mask) return ggml_attention(c, hp, a);
    ggml_tensor * args[] = {a.q, a.k, a.v, a.pos, a.blocks};
    return ggml_custom_4d(c, GGML_TYPE_F32, hp.q_dim(), a.q->ne[2], 1, 1, args, a.blocks ? 5 : 4, kernel_op, GGML_N_TASKS_MAX,
                          const_cast<AttentionKernel *>(attention_kernel()));
}

}  // namespace kvasir
