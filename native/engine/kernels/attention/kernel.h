#pragma once
// Attention of computed rows over the resident KV on the CPU: one kernel per instruction set, chosen at run time.
//
//   kernel_*.cc     one kernel: its vectors, its products, and when it may run
//   products_*.inc  the two matrix products of attention, and how their operands are packed
//   rows.inc        several rows: blocks of rows over tiles of keys
//   row.inc         one row: parts of the keys, merged at the end
//   sources.inc     the storage types of K and V
//   vectors.inc     the vector operations that all of them use
//
// Thread safety: any thread may look up kernels and run its own jobs. The threads of one job share an AttentionTeam.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/kv/kv_dtype.h"

namespace kvasir {

// Keys are read in runs of at most this many, with borders at fixed positions, so that a run is within one block.
constexpr int kAttentionTile = 64;

// One layer's attention for some rows. A row sees the keys at positions 0 … its own, or the last `window` of them, in
// whatever order the rows are given.
struct AttentionJob {
    const float * q;             // [rows][n_head][head_dim], with RoPE; rows q_stride floats apart
    const uint8_t * k;           // [keys][n_head_kv · head_dim] of `type`, with RoPE
    const uint8_t * v;           // the same shape and type
    KvDtype type;                // q8_0: head_dim is a multiple of 32
    // The key of position p is in row blocks[p / block_tokens] · block_tokens + p % block_tokens of k and v; null: in
    // row p. block_tokens is a power of two, at least kAttentionTile.
    const int32_t * blocks;
    int block_tokens;
    const int32_t * positions;   // [rows]; key positions[r] must exist
    float * out;                 // [rows][n_head][head_dim], contiguous
    int rows, n_head, n_head_kv, head_dim;
    size_t q_stride;
    float scale;                 // of the scores: usually 1 / √head_dim
    int window;                  // keys; 0: none
    float softcap;               // scores s become c · tanh(s / c); 0: unchanged
    const float * sinks;         // [n_head]: the score of a key without a value that each head sees; null: none
};

// State shared by the threads that work on one job. Reused for one job after another.
class AttentionTeam {
  public:
    // Index of the next piece of work.
    int next();
    // Each of `nth` threads calls this once, when no work is left. Returns true in the last thread: it sees what the
    // others wrote, and the next job may begin when it returns.
    bool last_to_leave(int nth);
    float * memory = nullptr;  // at least AttentionKernel::shared_floats

  private:
    std::atomic<int> next_{0}, left_{0};
};

struct AttentionKernel {
    const char * name;
    // Products of 8-bit mantissas (sums in f32): at least twice as fast, for models whose weights are coarser still.
    bool bf16;
    bool (*usable)();  // this CPU has the instructions, and the system permits them
    // Upper bound for jobs like this one whose rows see at most `keys` keys.
    size_t (*shared_floats)(const AttentionJob & job, int keys);
    size_t (*scratch_floats)(const AttentionJob & job);
    // Works on the job together with `nth` − 1 other threads. `scratch` is 64-byte aligned and owned by this thread. A
    // row's result depends neither on the other rows nor on the number of threads, except that a single row takes
    // another path.
    void (*run)(const AttentionJob & job, AttentionTeam & team, int nth, float * scratch);
};

// The fastest kernel this CPU has, or the fastest in f32, that passes attention_error(). KVASIR_ATTENTION names the
// fastest kernel allowed. Null if that is "ggml" or no kernel qualifies: use ggml's attention.
const AttentionKernel * attention_kernel(bool bf16);
// All kernels in this build that this CPU can run, fastest first, followed by those only tests use.
std::vector<const AttentionKernel *> attention_kernels();
// Largest difference from the portable kernel on a small problem with results up to 1; infinite if any result is not
// finite.
float attention_error(const AttentionKernel & kernel);

}  // namespace kvasir
