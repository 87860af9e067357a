#pragma once
// Attention of computed rows over the resident KV, on the CPU. One source, compiled for several instruction sets
// (attention_kernel_*.cc), chosen at run time; ggml's flash attention does the rest (single rows, other devices).
#include <cstddef>
#include <cstdint>

namespace kvasir {

// Keys are handled in tiles of at most this many, with borders at fixed positions: a tile's keys lie in one block.
constexpr int kAttentionTile = 64;

// One layer's attention for some rows. A row sees the keys at positions 0 … its own, wherever it stands among the rows.
struct AttentionJob {
    const float * q;             // [rows][n_head][head_dim], with RoPE; rows q_stride floats apart
    const uint16_t * k;          // f16 [keys][n_head_kv · head_dim], with RoPE
    const uint16_t * v;          // f16, the same shape
    // Where keys lie: that of position p in row blocks[p / block_tokens] · block_tokens + p % block_tokens of k and v. Null: in
    // row p. block_tokens is a power of two, at least kAttentionTile.
    const int32_t * blocks;
    int block_tokens;
    const int32_t * positions;   // [rows]; key positions[r] must exist
    float * out;                 // [rows][n_head][head_dim], contiguous
    int rows, n_head, n_head_kv, head_dim;
    size_t q_stride;
    float scale;                 // of the scores: 1 / √head_dim
};

struct AttentionKernel {
    const char * name;
    bool (*usable)();
    int lanes;  // query rows × grouped heads handled at once: the most a GQA group may have
    size_t (*scratch_floats)(const AttentionJob & job);
    // Does share `ith` of `nth` of the job. `scratch` is 64-byte aligned and this thread's own.
    void (*run)(const AttentionJob & job, int ith, int nth, float * scratch);
};

// The fastest kernel this CPU has, or the one KVASIR_ATTENTION names ("avx512", "avx2", "generic"); null when that is
// "ggml". For comparisons and tests: nothing else should choose.
const AttentionKernel * attention_kernel();
// All that this build has and this CPU can run, fastest first.
size_t attention_kernels(const AttentionKernel ** out, size_t max);

}  // namespace kvasir
