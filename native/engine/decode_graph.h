#pragma once
// The graph of one decode step, in splits: one for each run of layers on the same device. A step has a row of one
// session, or of several. Splits are used again as long as they have room for the keys of as many rows. Where ggml's
// attention is used, also only as long as the keys stay in the same blocks: it reads what lies together in place.
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
        ggml_tensor *x_in = nullptr, *x_out = nullptr;  // [n_embd, rows] f32
        ggml_tensor * inputs = nullptr;  // [n_embd_per_layer, rows, layers] f32; null: layers have none
        Ubatch rows{};
    };
    using Blocks = std::vector<std::vector<int32_t>>;  // of each row's keys
    explicit DecodeGraph(const Weights & weights);

    bool can_reuse(const KvPool & pool, const Blocks & keys) const;
    size_t layer_nodes(size_t rows) const;  // at most

    bool adapted, exact = false;  // exact: the same blocks, no others
    Blocks blocks;
    size_t width = 0;  // blocks of a row that there is room for
    int64_t generation = -1;  // of the pool they stand in
    std::vector<Split> splits;
};

}  // namespace kvasir
