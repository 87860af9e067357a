#pragma once
// A model's hyperparameters, in llama.cpp's names.
//
// Thread safety: plain data; a model's are immutable once its weights are loaded.
#include <string>
#include <vector>

#include "engine/graph/rope.h"

namespace kvasir {

// Parameters that may differ between the layers of one model.
struct LayerShape {
    int n_head = 0, n_head_kv = 0, head_dim = 0;
    int n_ff = 0;           // of the dense feed-forward
    int rope = 0;           // of Hparams::ropes; −1: queries and keys are not rotated
    bool windowed = false;  // a token sees only the last Hparams::window positions, its own among them
    int kv_of = 0;          // layer whose keys and values it reads: itself, or an earlier one

    int q_dim() const { return n_head * head_dim; }
    int kv_dim() const { return n_head_kv * head_dim; }  // values per token of K, and of V
};

// Applied to the gate before it multiplies the other half.
enum class Activation { silu, gelu, clamped_silu };

// How a router's scores become weights of the chosen experts.
enum class Gating { softmax, sigmoid, softmax_of_chosen };

// Mixture of experts: a feed-forward of which each token uses only a few parts.
struct Experts {
    int count = 0, used = 0;  // 0: dense
    int n_ff = 0;
    int shared = 0;           // this many process all tokens, as one feed-forward
    int dense_layers = 0;     // the first layers, which have no experts
    Gating gating = Gating::softmax;
    bool normalised = true;   // the weights of the chosen experts sum to 1
    float scale = 1;          // of the weights
};

// Scales queries by the logarithm of their position, in steps of `length` tokens (Llama 4's temperature tuning).
struct QueryTemperature {
    float scale = 0;  // 0: no scaling
    int length = 0;

    float at(int32_t position) const;
};

struct Hparams {
    std::string arch;
    int n_layer = 0;
    int n_embd = 0;
    int n_head = 0, n_head_kv = 0, head_dim = 0, n_ff = 0;  // maximum over all layers
    int n_vocab = 0;
    int n_ctx_train = 0;
    float rms_eps = 1e-5f;
    std::string rope_scaling = "none";
    std::vector<RopeParams> ropes{1};  // the first applies to most layers
    std::vector<LayerShape> layers;    // [n_layer]
    int n_layer_draft = 0;             // extra layers after the last, for speculative decoding; unused
    int n_layer_kv = 0;                // the first n_layer_kv layers have their own KV, later ones share theirs
    int window = 0;                    // tokens; 0: no layer has a sliding window
    int n_embd_per_layer = 0;          // per-layer embeddings besides the residual stream; 0: none
    Experts experts;
    Activation activation = Activation::silu;
    QueryTemperature temperature;
    float attention_scale = 0;  // of the scores; by default 1 / √head_dim
    float embedding_scale = 1, residual_scale = 1, logit_scale = 1;
    float attention_softcap = 0, logit_softcap = 0;    // 0: none
    std::vector<int32_t> suppressed;  // never generated, such as image tokens

    const LayerShape & layer(int il) const { return layers[size_t(il)]; }
};

}  // namespace kvasir
