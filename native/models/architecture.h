#pragma once
// What differs between model families, and nothing else: hyperparameters, tensor names, the graph of one layer without
// its attention. One family a file; registry.cc lists them.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/gguf_file.h"
#include "engine/rope.h"

namespace kvasir {

struct Hparams {
    std::string arch;
    int n_layer = 0;
    int n_embd = 0;
    int n_head = 0;
    int n_head_kv = 0;
    int head_dim = 0;
    int n_ff = 0;
    int n_vocab = 0;
    int n_ctx_train = 0;
    float rms_eps = 1e-5f;
    std::string rope_scaling = "none";
    RopeParams rope;

    int q_dim() const { return n_head * head_dim; }
    int kv_dim() const { return n_head_kv * head_dim; }  // values per token of K, and of V, in one layer
    int group() const { return n_head / n_head_kv; }     // query heads that share a KV head (GQA)
};

// Shapes in ggml order (ne[0] runs fastest).
struct LayerWeights {
    ggml_tensor * attn_norm = nullptr;                              // [n_embd]
    ggml_tensor *wq = nullptr, *wk = nullptr, *wv = nullptr;        // [n_embd, q_dim], [n_embd, kv_dim] × 2
    ggml_tensor *bq = nullptr, *bk = nullptr, *bv = nullptr;        // [q_dim], [kv_dim] × 2, or null
    ggml_tensor *q_norm = nullptr, *k_norm = nullptr;               // [head_dim], or null
    ggml_tensor *wo = nullptr, *bo = nullptr;                       // [q_dim, n_embd], [n_embd] or null
    ggml_tensor * ffn_norm = nullptr;                               // [n_embd]
    ggml_tensor *gate = nullptr, *up = nullptr, *down = nullptr;    // [n_embd, n_ff] × 2, [n_ff, n_embd]
};

// One weight a layer (or the model) needs.
struct TensorSpec {
    std::string name;
    std::vector<int64_t> shape;
    ggml_tensor * LayerWeights::*slot;
    bool required = true;
};

class Architecture {
  public:
    virtual ~Architecture() = default;
    virtual const char * name() const = 0;
    virtual int rope_mode() const = 0;
    // Why a file of this family cannot run, or "".
    virtual std::string unsupported(const GgufFile & file) const = 0;
    virtual std::vector<TensorSpec> layer_tensors(const Hparams & hp, int layer) const = 0;

    // Graph pieces of one layer; rows = tokens. None of them applies RoPE.
    // Normalised input of the attention: x [n_embd, rows] → [n_embd, rows].
    virtual ggml_tensor * attention_input(ggml_context * c, const Hparams & hp, const LayerWeights & w, ggml_tensor * x) const = 0;
    virtual ggml_tensor * query(ggml_context * c, const Hparams & hp, const LayerWeights & w, ggml_tensor * h) const = 0;  // [head_dim, n_head, rows]
    virtual ggml_tensor * key(ggml_context * c, const Hparams & hp, const LayerWeights & w, ggml_tensor * h) const = 0;    // [head_dim, n_head_kv, rows]
    virtual ggml_tensor * value(ggml_context * c, const Hparams & hp, const LayerWeights & w, ggml_tensor * h) const = 0;  // [kv_dim, rows]
    // Attention result [q_dim, rows] and residual x [n_embd, rows] → the layer's output [n_embd, rows].
    virtual ggml_tensor * output(ggml_context * c, const Hparams & hp, const LayerWeights & w, ggml_tensor * attn, ggml_tensor * x) const = 0;
};

// The family named by general.architecture, or null.
const Architecture * find_architecture(const std::string & name);
std::vector<std::string> architecture_names();

// Reads and checks the hyperparameters all families share; MODEL_INVALID or MODEL_UNSUPPORTED.
Hparams read_hparams(const GgufFile & file, const Architecture & arch);

std::unique_ptr<Architecture> make_llama();
std::unique_ptr<Architecture> make_qwen2();
std::unique_ptr<Architecture> make_qwen3();

}  // namespace kvasir
