#pragma once
// What differs between model families. The defaults of Architecture are what most families share: norm, attention,
// norm, SwiGLU, each half with its residual. A family overrides only what differs, in its own file in models/;
// models/registry.cc lists the families.
//
// Thread safety: an Architecture has no state. Any thread may use it.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/gguf/header_reader.h"
#include "engine/gguf/hparams.h"
#include "engine/kernels/matmul.h"

namespace kvasir {

// The weights of one layer; null if the family or the file has none. Shapes in ggml order (ne[0] is contiguous).
struct LayerWeights {
    ggml_tensor * attn_norm = nullptr;                            // [n_embd]
    ggml_tensor *wq = nullptr, *wk = nullptr, *wv = nullptr;      // [n_embd, q_dim], [n_embd, kv_dim] × 2
    ggml_tensor *bq = nullptr, *bk = nullptr, *bv = nullptr;      // [q_dim], [kv_dim] × 2
    ggml_tensor *q_norm = nullptr, *k_norm = nullptr;             // [head_dim], or all heads together
    ggml_tensor * sinks = nullptr;                                // [n_head]
    ggml_tensor *wo = nullptr, *bo = nullptr;                     // [q_dim, n_embd], [n_embd]
    ggml_tensor * attn_post_norm = nullptr;                       // [n_embd]
    ggml_tensor * ffn_norm = nullptr;                             // [n_embd]
    ggml_tensor *gate = nullptr, *up = nullptr, *down = nullptr;  // [n_embd, n_ff] × 2, [n_ff, n_embd]
    ggml_tensor *router = nullptr, *router_bias = nullptr;        // [n_embd, experts], [experts]
    ggml_tensor * choice_bias = nullptr;                          // [experts]: added to choose, not to weight
    ggml_tensor * router_scale = nullptr;                         // [n_embd]
    // Like gate, up and down, [.., .., experts], and their biases [n_ff, experts] × 2, [n_embd, experts].
    ggml_tensor *gate_experts = nullptr, *up_experts = nullptr, *down_experts = nullptr;
    ggml_tensor * gate_up_experts = nullptr;                      // [n_embd, 2 · n_ff, experts]: gate and up fused
    ggml_tensor * expert_scales = nullptr;                        // [experts], of each expert's output
    ggml_tensor *gate_biases = nullptr, *up_biases = nullptr, *down_biases = nullptr;
    ggml_tensor * ffn_post_norm = nullptr;                        // [n_embd]
    // With a dense feed-forward and experts in parallel: norm after the former, before and after the latter.
    ggml_tensor *dense_post_norm = nullptr, *experts_norm = nullptr, *experts_post_norm = nullptr;  // [n_embd] each
    // For the layer's own input: [n_embd, n_embd_per_layer], [n_embd_per_layer, n_embd], [n_embd].
    ggml_tensor *input_gate = nullptr, *input_up = nullptr, *input_norm = nullptr;
    ggml_tensor * out_scale = nullptr;                            // [1], of the layer's output
};

// A part of a tensor that several weights share: rows [first, first + rows of this weight) of `all`.
struct TensorPart {
    int64_t first = 0, all = 0;  // 0: the weight is the whole tensor
};

// One tensor of a layer, with its name in the file: "blk.<layer>.<weight>".
struct TensorSpec {
    std::string name;
    std::vector<int64_t> shape;
    ggml_tensor * LayerWeights::*slot;
    bool required = true;
    TensorPart part{};

    // Shape of the whole tensor.
    std::vector<int64_t> file_shape() const {
        std::vector<int64_t> out = shape;
        if (part.all) out.back() = part.all;
        return out;
    }
};

// "attn_q.weight" of layer 3 → "blk.3.attn_q.weight".
std::string layer_tensor_name(int layer, const char * weight);

// Building blocks for the families' tensor lists: Llama's attention (norm, Q, K, V and output; biases if the file has
// them) …
std::vector<TensorSpec> attention_tensors(const Hparams & hp, int layer);
// … norms of each query and key head …
void add_head_norms(std::vector<TensorSpec> & specs, const Hparams & hp, int layer);
// … norms after attention and feed-forward …
void add_post_norms(std::vector<TensorSpec> & specs, const Hparams & hp, int layer);
// … and gate, up and down: separate, with gate and up fused, or as experts, each with norm and, for experts, a router.
void add_feed_forward(std::vector<TensorSpec> & specs, const Hparams & hp, int layer);
void add_fused_feed_forward(std::vector<TensorSpec> & specs, const Hparams & hp, int layer);
void add_experts(std::vector<TensorSpec> & specs, const Hparams & hp, int layer);

// Hyperparameters that several families read the same way: experts; and the sliding window, which all layers but the
// last of each period have unless the header lists it per layer. read_window returns false if the model has no window;
// `fallback` is the length if the header does not give one. Layers with a window may then have separate RoPE
// parameters.
void read_experts(const HeaderReader & header, Hparams & hp);
bool read_window(const HeaderReader & header, Hparams & hp, int period, int fallback = 0);
void use_in_windows(Hparams & hp, RopeParams rope);

class Adapter;

// Inputs for building a piece of a layer's graph.
struct LayerArgs {
    ggml_context * c;
    const Hparams & hp;
    const LayerShape & shape;
    const LayerWeights & w;
    const Adapter * adapter;        // null if the model has none
    ggml_tensor * input = nullptr;  // [n_embd_per_layer, rows]; null if layers have no input of their own
    Rows rows = Rows::together;
};

// w.down · (act(w.gate · x) ⊙ w.up · x): [n_embd, rows] → [n_embd, rows].
ggml_tensor * dense_feed_forward(const LayerArgs & l, ggml_tensor * x);

class Architecture {
  public:
    virtual ~Architecture() = default;

    // The value of general.architecture in the header.
    virtual const char * name() const = 0;
    // GGML_ROPE_TYPE_NORMAL or _NEOX: which dimensions of a head RoPE rotates together.
    virtual int rope_mode() const = 0;
    // Whether files of this family may scale individual RoPE frequencies (rope_freqs.weight).
    virtual bool scales_rope_frequencies() const { return false; }
    // Whether files may have separate factors for long and for short contexts (LongRoPE).
    virtual bool scales_rope_by_length() const { return false; }
    // Reads what only headers of this family have; called after the common part. MODEL_INVALID, MODEL_UNSUPPORTED.
    virtual void read(const HeaderReader & header, Hparams & hp) const;
    // Default: the standard names; biases of Q, K, V and the attention output if the file has them.
    virtual std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const;

    // Pieces of one layer's graph, without its attention; rows = tokens. None of them applies RoPE.
    // Input of the attention: x [n_embd, rows] → h [n_embd, rows]. Default: RMS norm if there are weights for it.
    virtual ggml_tensor * attention_input(const LayerArgs & l, ggml_tensor * x) const;
    // h → [head_dim, n_head, rows], and [head_dim, n_head_kv, rows]. Default: RMS norm on each head, or on all
    // together, if there are weights for it.
    virtual ggml_tensor * query(const LayerArgs & l, ggml_tensor * h) const;
    virtual ggml_tensor * key(const LayerArgs & l, ggml_tensor * h) const;
    // h → [kv_dim, rows].
    virtual ggml_tensor * value(const LayerArgs & l, ggml_tensor * h) const;
    // Attention result [q_dim, rows] and residual x [n_embd, rows] → the layer's output [n_embd, rows]. Default: each
    // half between the norms that have weights; then the layer's own input is added and the output is scaled.
    virtual ggml_tensor * output(const LayerArgs & l, ggml_tensor * attn, ggml_tensor * x) const;

  protected:
    // Within output(): x [n_embd, rows], before its norm → [n_embd, rows], to be added to it. Default: a gated
    // feed-forward, experts if the layer has a router, or both.
    virtual ggml_tensor * feed_forward(const LayerArgs & l, ggml_tensor * x) const;
};

// The family named by general.architecture, or null.
const Architecture * find_architecture(const std::string & name);
std::vector<std::string> architecture_names();

// Reads and checks the hyperparameters: every number must be finite and plausible for a model. MODEL_INVALID,
// MODEL_UNSUPPORTED.
Hparams read_hparams(const HeaderReader & header, const Architecture & arch);

}  // namespace kvasir
