#pragma once
// Attention of computed rows over the resident KV, on the CPU: a family of kernels, one for each instruction set, of
// which one is chosen at run time.
//
//   kernel_*.cc     one kernel: which vectors, which products, and when it may run
//   products_*.inc  the two matrix products attention consists of, and how their operands are packed
//   rows.inc        several rows: blocks of rows over tiles of keys
//   row.inc         one row: parts of the keys, merged at the end
//   sources.inc     the types K and V come in
//   vectors.inc     the vector operations under all of them
//
// Thread safety: any thread may ask for kernels, and run jobs of its own. The threads of one job share an
// AttentionTeam.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/kv_dtype.h"

namespace kvasir {

// Keys are read in runs of at most this many, with borders at fixed positions: a run lies in one block.
constexpr int kAttentionTile = 64;

// One layer's attention for some rows. A row sees the keys at positions 0 … its own, or the last `window` of them,
// wherever it stands among the rows.
struct AttentionJob {
    const float * q;             // [rows][n_head][head_dim], with RoPE; rows q_stride floats apart
    const uint8_t * k;           // [keys][n_head_kv · head_dim] of `type`, with RoPE
    const uint8_t * v;           // the same shape and type
    KvDtype type;                // q8_0: head_dim is a multiple of 32
    // Where keys lie: that of position p in row blocks[p / block_tokens] · block_tokens + p % block_tokens of k and v.
    // Null: in row p. block_tokens is a power of two, at least kAttentionTile.
    const int32_t * blocks;
    int block_tokens;
    const int32_t * positions;   // [rows]; key positions[r] must exist
    float * out;                 // [rows][n_head][head_dim], contiguous
    int rows, n_head, n_head_kv, head_dim;
    size_t q_stride;
    float scale;                 // of the scores: mostly 1 / √head_dim
    int window;                  // keys; 0: none
    float softcap;               // scores s become c · tanh(s / c); 0: they stay
    const float * sinks;         // [n_head]: the score of a key without a value that each head sees; null: none
};

// What the threads that work on one job share. Made once, used for one job after another.
class AttentionTeam {
  public:
    // The next piece of work.
    int next();
    // To be called once by each of `nth` threads, when there is nothing left. True for the one that comes last: what
    // the others wrote is visible to it, and the next job may begin when it returns.
    bool last_to_leave(int nth);
    float * memory = nullptr;  // as many floats as AttentionKernel::shared_floats asks

  private:
    std::atomic<int> next_{0}, left_{0};
};

struct AttentionKernel {
    const char * name;
    // Products of 8-bit mantissas (sums in f32): twice the speed and more, for models whose weights are coarser still.
    bool bf16;
    bool (*usable)();  // this CPU has the instructions, and the system lets us use them
    // For jobs like this whose rows see at most `keys` keys.
    size_t (*shared_floats)(const AttentionJob & job, int keys);
    size_t (*scratch_floats)(const AttentionJob & job);
    // Works on the job together with `nth` − 1 other threads. `scratch` is 64-byte aligned and this thread's own. A
    // row's result depends neither on the other rows nor on the number of threads, but one row alone takes another
    // path.
    void (*run)(const AttentionJob & job, AttentionTeam & team, int nth, float * scratch);
};

// The fastest kernel this CPU has, or the fastest in f32. KVASIR_ATTENTION names the fastest that may be used; null
// when that is "ggml". It has passed attention_error() here. Null: use ggml's attention.
const AttentionKernel * attention_kernel(bool bf16);
// All that this build has and this CPU can run, fastest first; then those that only tests use.
std::vector<const AttentionKernel *> attention_kernels();
// Largest difference from the portable kernel on a small problem with results up to 1; infinite where a result is not
// finite.
float attention_error(const AttentionKernel & kernel);

}  // namespace kvasir
