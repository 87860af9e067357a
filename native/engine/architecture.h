#pragma once
// What differs between model families. The defaults of Architecture are what most families have in common: norm,
// attention, norm, SwiGLU, each with its residual. A family says only what is different from that, in a file of its own
// in models/; models/registry.cc lists them.
//
// Thread safety: an Architecture has no state. Any thread may use it.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "header_reader.h"
#include "hparams.h"
#include "matmul.h"

namespace kvasir {

// The weights of one layer. Null: the family, or the file, has none. Shapes in ggml order (ne[0] runs fastest).
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
    ggml_tensor * choice_bias = nullptr;                          // [experts]: to choose by, not to weigh by
    ggml_tensor * router_scale = nullptr;                         // [n_embd]
    // As gate, up and down, [.., .., experts], and their biases [n_ff, experts] × 2, [n_embd, experts].
    ggml_tensor *gate_experts = nullptr, *up_experts = nullptr, *down_experts = nullptr;
    ggml_tensor * gate_up_experts = nullptr;                      // [n_embd, 2 · n_ff, experts]: both in one
    ggml_tensor * expert_scales = nullptr;                        // [experts], of what each gives
    ggml_tensor *gate_biases = nullptr, *up_biases = nullptr, *down_biases = nullptr;
    ggml_tensor * ffn_post_norm = nullptr;                        // [n_embd]
    // Where a dense feed-forward and experts stand side by side: behind the former, before and behind the latter.
    ggml_tensor *dense_post_norm = nullptr, *experts_norm = nullptr, *experts_post_norm = nullptr;  // [n_embd] each
    // Of the layer's own input: [n_embd, n_embd_per_layer], [n_embd_per_layer, n_embd], [n_embd].
    ggml_tensor *input_gate = nullptr, *input_up = nullptr, *input_norm = nullptr;
    ggml_tensor * out_scale = nullptr;                            // [1], of the layer's output
};

// A part of a tensor that holds several weights one behind another: rows [first, first + its own) of `all`.
struct TensorPart {
    int64_t first = 0, all = 0;  // 0: the tensor is the weight
};

// One tensor of a layer, by its name in the file: "blk.<layer>.<weight>".
struct TensorSpec {
    std::string name;
    std::vector<int64_t> shape;
    ggml_tensor * LayerWeights::*slot;
    bool required = true;
    TensorPart part{};

    // Of the whole tensor.
    std::vector<int64_t> file_shape() const {
        std::vector<int64_t> out = shape;
        if (part.all) out.back() = part.all;
        return out;
    }
};

// "attn_q.weight" of layer 3 → "blk.3.attn_q.weight".
std::string layer_tensor_name(int layer, const char * weight);

// What families make their lists of: those of Llama's attention (norm, Q, K, V and output; biases where the file has
// them) …
std::vector<TensorSpec> attention_tensors(const Hparams & hp, int layer);
// … norms of each query and key head …
void add_head_norms(std::vector<TensorSpec> & specs, const Hparams & hp, int layer);
// … norms behind attention and feed-forward …
void add_post_norms(std::vector<TensorSpec> & specs, const Hparams & hp, int layer);
// … and gate, up and down: by themselves, with gate and up in one tensor, or of experts, with their norm and router.
void add_feed_forward(std::vector<TensorSpec> & specs, const Hparams & hp, int layer);
void add_fused_feed_forward(std::vector<TensorSpec> & specs, const Hparams & hp, int layer);
void add_experts(std::vector<TensorSpec> & specs, const Hparams & hp, int layer);

// What families read alike: the experts' numbers; the window, which all but each period's last layer have unless the
// header says it layer by layer (false where the model has none; `fallback`: where the header does not say how long
// it is). Then those may have a RoPE of their own.
void read_experts(const HeaderReader & header, Hparams & hp);
bool read_window(const HeaderReader & header, Hparams & hp, int period, int fallback = 0);
void use_in_windows(Hparams & hp, RopeParams rope);

class Adapter;

// What a piece of a layer's graph is made from.
struct LayerArgs {
    ggml_context * c;
    const Hparams & hp;
    const LayerShape & shape;
    const LayerWeights & w;
    const Adapter * adapter;        // null where the model has none
    ggml_tensor * input = nullptr;  // [n_embd_per_layer, rows]; null where layers have no input of their own
    Rows rows = Rows::together;
};

// w.down · (act(w.gate · x) ⊙ w.up · x): [n_embd, rows] → [n_embd, rows].
ggml_tensor * dense_feed_forward(const LayerArgs & l, ggml_tensor * x);

class Architecture {
  public:
    virtual ~Architecture() = default;

    // As the header's general.architecture has it.
    virtual const char * name() const = 0;
    // GGML_ROPE_TYPE_NORMAL or _NEOX: which dimensions of a head RoPE rotates together.
    virtual int rope_mode() const = 0;
    // Whether files of the family may scale each of RoPE's frequencies (rope_freqs.weight).
    virtual bool scales_rope_frequencies() const { return false; }
    // Whether they may hold factors for long contexts and for short ones (LongRoPE).
    virtual bool scales_rope_by_length() const { return false; }
    // What only headers of this family say; called behind what all say. MODEL_INVALID, MODEL_UNSUPPORTED.
    virtual void read(const HeaderReader & header, Hparams & hp) const;
    // Default: the standard's names; biases of Q, K, V and the attention's output where the file has them.
    virtual std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const;

    // Pieces of one layer's graph, without its attention; rows = tokens. None of them applies RoPE.
    // Input of the attention: x [n_embd, rows] → h [n_embd, rows]. Default: RMS norm where there are weights for it.
    virtual ggml_tensor * attention_input(const LayerArgs & l, ggml_tensor * x) const;
    // h → [head_dim, n_head, rows], and [head_dim, n_head_kv, rows]. Default: RMS norm on each head, or on all
    // together, where there are weights for it.
    virtual ggml_tensor * query(const LayerArgs & l, ggml_tensor * h) const;
    virtual ggml_tensor * key(const LayerArgs & l, ggml_tensor * h) const;
    // h → [kv_dim, rows].
    virtual ggml_tensor * value(const LayerArgs & l, ggml_tensor * h) const;
    // Attention result [q_dim, rows] and residual x [n_embd, rows] → the layer's output [n_embd, rows]. Default: each
    // half between the norms that there are weights for; then what the layer's own input adds, and its scale.
    virtual ggml_tensor * output(const LayerArgs & l, ggml_tensor * attn, ggml_tensor * x) const;

  protected:
    // Within output(): x [n_embd, rows], before its norm → [n_embd, rows], to be added to it. Default: a gated
    // feed-forward, or experts where the layer has a router, or both.
    virtual ggml_tensor * feed_forward(const LayerArgs & l, ggml_tensor * x) const;
};

// The family named by general.architecture, or null.
const Architecture * find_architecture(const std::string & name);
std::vector<std::string> architecture_names();

// Reads and checks the hyperparameters: every number is finite, and within what a model can have. MODEL_INVALID,
// MODEL_UNSUPPORTED.
Hparams read_hparams(const HeaderReader & header, const Architecture & arch);

}  // namespace kvasir
