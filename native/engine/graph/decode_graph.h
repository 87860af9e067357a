#pragma once
// The graph of decode steps with the same number of rows, in splits: one for each run of layers on the same device.
// Each row has its own table of blocks, since rows may belong to different sessions. Splits are reused while there is
// room for their keys. With ggml's attention, which reads contiguous rows in place, also only while the keys stay in
// the same blocks.
//
// Thread safety: belongs to the model's thread.
#include <vector>

#include "batch.h"
#include "engine/gguf/weights.h"

namespace kvasir {

struct DecodeGraph {
    struct Split {
        Device * device;
        int begin, end;  // layers
        ContextPtr ctx;
        GallocPtr galloc;
        ggml_cgraph * graph = nullptr;
        ggml_tensor *x_in = nullptr, *x_out = nullptr;  // [n_embd, rows] f32
        ggml_tensor * inputs = nullptr;  // [n_embd_per_layer, rows, layers] f32; null: none
        Ubatch rows{};
    };
    using Blocks = std::vector<std::vector<int32_t>>;  // of the keys, per row
    explicit DecodeGraph(const Weights & weights);

    bool can_reuse(const KvPool & pool, const Blocks & keys) const;
    size_t layer_nodes(size_t rows) const;  // upper bound

    bool adapted, exact = false;  // exact: only for exactly the same blocks
    Blocks blocks;
    size_t width = 0;  // capacity of a row in blocks
    int64_t generation = -1;  // of the pool that the blocks are in
    std::vector<Split> splits;
};

}  // namespace kvasir
