#pragma once
// Runs layers: connects weights, resident KV and batches. One object per model, shared by its sessions.
//
// Thread safety: belongs to the model's thread. Any thread may set `abort`.
#include <atomic>
#include <map>
#include <span>
#include <vector>

#include "batch.h"
#include "decode_graph.h"
#include "engine/chunks/layer_loader.h"
#include "engine/fusing/strategy.h"
#include "engine/kernels/attention.h"
#include "engine/kv/kv_cache.h"
#include "engine/scheduling/decode_batch.h"

namespace kvasir {

// How far the computed keys (without RoPE) and values of rows are from those in the cache, summed by group of rows.
struct KvShift {
    int groups = 0;
    std::vector<int32_t> group;  // per row of the batch; -1: none
    std::vector<float> k, v;     // [groups][kv_dim]: sums of computed − cached
};

// What a pass over one layer does with the rows of its batch.
struct LayerCall {
    bool write_kv = true;   // compute K and V of the rows and write them into the cache
    bool advance = true;    // attention and feed-forward: replace the rows' activations by the layer's output
    // [rows]: squared L2 of fresh − cached V (or K), measured before the cache is overwritten.
    std::vector<float> * deviation = nullptr;
    DeviationOf deviation_of = DeviationOf::v;
    int observers = 0;                         // number of last rows whose attention is recorded
    std::vector<float> * attention = nullptr;  // [heads][observers][keys up to the last row's position]: weights
    std::vector<float> * raw_k = nullptr;      // [rows][kv_dim]: keys before RoPE
    std::vector<float> * raw_v = nullptr;      // [rows][kv_dim]
    KvShift * shift = nullptr;                 // measured before the cache is overwritten
};

class Forward {
  public:
    Forward(const Weights & weights, Device & cpu);

    // Token embeddings, [tokens][n_embd].
    std::vector<float> embed(const std::vector<int32_t> & tokens, Rows rows = Rows::together);
    // Runs one layer. ABORTED. A layer that reads another layer's keys and values writes none.
    void layer(int il, Batch & batch, const LayerCall & call, const std::atomic<bool> * abort);
    // Places ranges of chunks of layer `il` into `cache`: values unchanged, keys rotated to their positions.
    struct Placement {
        const ChunkKv * chunk;
        StoredLayer stored;  // of the whole chunk, on the layer's device
        TokenRange range;
        int32_t position;  // of the range's first token

        // The range's first row on the host; rows have `row` bytes.
        const uint8_t * k(size_t row) const { return stored.host + range.begin * row; }
        const uint8_t * v(size_t row) const { return k(row) + chunk->n_tokens() * row; }
    };
    void place(int il, const std::vector<Placement> & placements, const KvCache & cache);
    // The same with a ggml graph, from rows on the device: for devices other than the host, and as a second path for
    // tests.
    void place_with_graph(int il, const std::vector<Placement> & placements, const KvCache & cache);
    // Adds the shift of each position's group to its key (rotated to the position) and value.
    void shift(int il, const KvShift & shift, const std::vector<int32_t> & positions,
               const std::vector<int32_t> & group, const KvCache & cache);
    // The same with a ggml graph, as place_with_graph().
    void shift_with_graph(int il, const KvShift & shift, const std::vector<int32_t> & positions,
                          const std::vector<int32_t> & group, const KvCache & cache);
    // Logits of the last row of `batch` → out [n_vocab].
    void head(const Batch & batch, std::vector<float> & out, const std::atomic<bool> * abort);
    // One decode step for sessions of one pool. Each row is computed as if it were alone: also rows of one session, at
    // consecutive positions, since every layer writes the keys and values of all rows first.
    void decode(const std::vector<DecodeRow> & rows, const std::atomic<bool> * abort);

    // Called between micro-batches with the number of rows that the model could have computed in the elapsed time.
    std::function<void(double)> between;

  private:
    void place_sources(int il, std::span<const std::vector<Placement>> sources, const KvCache & cache);
    void build_decode_graph(DecodeGraph & graph, const std::vector<DecodeRow> & rows, DecodeGraph::Blocks blocks);
    // Sums [kv_dim, groups], and the inputs they need: [count] i32, [count, groups] f32.
    struct ShiftGraph {
        ggml_tensor *k = nullptr, *v = nullptr, *back = nullptr, *groups = nullptr;
    };
    // A layer's graph for one micro-batch while it is built.
    struct LayerGraph {
        ggml_context * c;
        ggml_cgraph * g;
        int il;
        const Ubatch & b;
        const KvPool & pool;
        const LayerCall & call;
        ggml_tensor * input = nullptr;  // see LayerArgs
        // Outputs besides the rows' activations; null if not requested.
        ggml_tensor *deviation = nullptr, *raw_k = nullptr, *raw_v = nullptr;
        int observers = 0;                                  // number of last rows of `b` whose attention is recorded
        ggml_tensor *attention = nullptr, *seen = nullptr;  // [n_kv, observers, n_head], [n_kv, observers]: a mask
        ShiftGraph shift{};
    };
    ggml_tensor * build_layer(LayerGraph & l, ggml_tensor * x);
    void write_kv(LayerGraph & l, ggml_tensor * h);
    void measure_shift(LayerGraph & l, ggml_tensor * k, ggml_tensor * v);
    void set_shift_inputs(const LayerGraph & l, const int32_t * positions) const;
    void add_shift(const LayerGraph & l) const;
    void observe(LayerGraph & l, ggml_tensor * q);
    ggml_tensor * attend(LayerGraph & l, ggml_tensor * q, const Ubatch & b);
    // ids [tokens] → f32 [n_embd, tokens].
    ggml_tensor * embeddings(ggml_context * c, ggml_tensor * ids, Rows rows);
    // Rotates with the RoPE parameters of layer `il`.
    ggml_tensor * rope(ggml_context * c, ggml_tensor * x, ggml_tensor * pos, int il);
    // What layers [begin, end) get for these tokens besides the residual stream (Gemma's per-layer embeddings):
    // [layers][tokens][n_embd_per_layer]; empty if they get nothing.
    std::vector<float> layer_inputs(const int32_t * tokens, int count, int begin, int end,
                                    Rows rows = Rows::together);
    // Computes logits from rows of [n_embd] each.
    void logits_of(const std::vector<float> & x, const std::vector<std::vector<float> *> & out,
                   const std::atomic<bool> * abort);

    const Weights & weights_;
    Device & cpu_;
    std::vector<RopeTable> tables_;  // of Hparams::ropes
    Attention attention_;
    struct RopeFactors {  // one copy per device
        Device * device;
        int rope;
        ContextPtr ctx;
        ggml_tensor * tensor;
        DeviceMemory::Lease memory;
    };
    std::vector<RopeFactors> rope_factors_;
    std::map<size_t, DecodeGraph> decode_graphs_;  // by number of rows, which changes from step to step
};

}  // namespace kvasir
