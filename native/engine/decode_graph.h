#pragma once
// The graph of one decode step, in splits: one for each run of layers on the same device. Splits are used again as long
// as the keys they read stay in the same blocks, and built anew in the same memory when these change: every kKvBlock
// tokens, and when it is another session's turn.
//
// Thread safety: belongs to the model's thread.
#include <vector>

#include "batch.h"
#include "weights.h"

namespace kvasir {

struct DecodeGraph {
    struct Split {
        Device * device;
        int begin, end;  // layers
        ContextPtr ctx;
        GallocPtr galloc;
        ggml_cgraph * graph = nullptr;
        ggml_tensor *x_in = nullptr, *x_out = nullptr;  // [n_embd, 1] f32
        ggml_tensor * inputs = nullptr;                 // [n_embd_per_layer, layers] f32; null: layers have none
        Ubatch row{};
    };
    explicit DecodeGraph(const Weights & weights);

    bool can_reuse(const KvCache & cache, const std::vector<int32_t> & keys) const {
        return blocks == keys && generation == cache.pool().generation();
    }

    size_t layer_nodes;           // room for, in a split
    std::vector<int32_t> blocks;  // of the keys
    int64_t generation = -1;      // of the pool they stand in
    std::vector<Split> splits;
};

}  // namespace kvasir
