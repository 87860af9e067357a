#pragma once
// A model's hyperparameters, in llama.cpp's names. Plain data.
#include <string>

#include "rope.h"

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

}  // namespace kvasir
