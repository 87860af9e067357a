#pragma once
// Running layers: the interplay of weights, resident KV and row sets. One object per session; single-threaded.
#include <atomic>
#include <memory>
#include <vector>

#include "attention.h"
#include "kv_cache.h"
#include "layer_loader.h"
#include "rows.h"
#include "strategy.h"

namespace kvasir {

// What a pass over one layer does with its rows.
struct LayerCall {
    bool write_kv = true;   // compute K and V of the rows and write them into the cache
    bool advance = true;    // attention and feed-forward: replace the rows' activations by the layer's output
    std::vector<float> * deviation = nullptr;  // per row: squared L2 of fresh − cached V (or K), before it is overwritten
    DeviationOf deviation_of = DeviationOf::v;
    int observers = 0;                         // last rows of the set whose attention is wanted
    std::vector<float> * attention = nullptr;  // [heads][observers][keys]: weights of the keys up to the last row's position
    std::vector<float> * raw_k = nullptr;      // [rows][kv_dim]: keys before RoPE
    std::vector<float> * raw_v = nullptr;      // [rows][kv_dim]
};

class Forward {
  public:
    Forward(const Weights & weights, Compute & cpu, KvCache & cache, RopeTable & table);
    ~Forward();

    // Token embeddings, [tokens][n_embd].
    std::vector<float> embed(const std::vector<int32_t> & tokens);
    void layer(int il, RowSet & rows, const LayerCall & call, const std::atomic<bool> * abort);
    // Places ranges of chunks of layer `il` into the cache: values as they are, keys rotated to their positions.
    struct Placement {
        const ChunkKv * chunk;
        const uint8_t * data;  // K then V of the layer, of the whole chunk
        TokenRange range;
        int32_t position;  // of the range's first token

        const uint8_t * k() const { return data + range.begin * chunk->shape().row_bytes(); }
        const uint8_t * v() const { return k() + chunk->n_tokens() * chunk->shape().row_bytes(); }
    };
    void place(int il, const std::vector<Placement> & placements);
    // The same by a ggml graph: what devices other than the host use, and a second path for tests.
    void place_with_graph(int il, const std::vector<Placement> & placements);
    // Logits of the last row of `rows` → out [n_vocab].
    void head(const RowSet & rows, std::vector<float> & out, const std::atomic<bool> * abort);
    // One token at `position` through all layers; logits → out. Its K and V are written.
    void decode(int32_t token, int32_t position, std::vector<float> & out, const std::atomic<bool> * abort);

    const Weights & weights() const { return weights_; }
    KvCache & cache() { return cache_; }

  private:
    struct DecodePlan;
    void plan_segment(int & il);
    ggml_context * graph_context();
    // What a layer's graph computes besides its rows' activations; null where it was not asked for.
    struct Measured {
        ggml_tensor *deviation = nullptr, *raw_k = nullptr, *raw_v = nullptr;
        int observers = 0;                                  // last rows of this block whose attention is wanted
        ggml_tensor *attention = nullptr, *mask = nullptr;  // [n_kv, observers, n_head], [n_kv, observers]
    };
    ggml_tensor * build_layer(ggml_context * c, ggml_cgraph * g, int il, const RowBlock & b, ggml_tensor * x, const LayerCall & call, Measured & m);
    void write_kv(ggml_context * c, ggml_cgraph * g, int il, const RowBlock & b, ggml_tensor * h, const LayerCall & call, Measured & m);
    void observe(ggml_context * c, ggml_cgraph * g, int il, const RowBlock & b, ggml_tensor * q, Measured & m);
    ggml_tensor * rope(ggml_context * c, ggml_tensor * x, ggml_tensor * pos, Compute & device);
    void logits_of(const std::vector<float> & x, std::vector<float> & out, const std::atomic<bool> * abort);

    const Weights & weights_;
    Compute & cpu_;
    KvCache & cache_;
    RopeTable & table_;
    Attention attention_;
    std::vector<uint8_t> graph_memory_;
    ContextPtr graph_ctx_;
    struct RopeFactors {  // llama3 scaling, one copy a device
        Compute * device;
        ContextPtr ctx;
        ggml_tensor * tensor;
        BufferPtr buffer;
    };
    std::vector<RopeFactors> rope_factors_;
    std::unique_ptr<DecodePlan> decode_;
};

}  // namespace kvasir
