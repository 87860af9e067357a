#pragma once
// The graphs of one decode step: one for each run of layers on the same device. They are kept as long as the keys they look at
// stay in the same blocks, and built anew in the same memory when these change: every kKvBlock tokens, and when another
// session's turn comes.
#include <vector>

#include "rows.h"
#include "weights.h"

namespace kvasir {

struct DecodePlan {
    struct Segment {
        Compute * device;
        int begin, end;  // layers
        ContextPtr ctx;
        GallocPtr galloc;
        ggml_cgraph * graph = nullptr;
        ggml_tensor *x_in = nullptr, *x_out = nullptr;  // [n_embd, 1] f32
        RowBlock row{};
    };
    explicit DecodePlan(const Weights & weights);

    bool fits(const KvCache & cache, const std::vector<int32_t> & keys) const { return blocks == keys && generation == cache.pool().generation(); }

    std::vector<int32_t> blocks;  // of the keys
    int64_t generation = -1;      // of the pool they stand in
    std::vector<Segment> segments;
};

}  // namespace kvasir
