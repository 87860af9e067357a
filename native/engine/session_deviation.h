#pragma once
// How far what one session holds is from what another holds: the deviations of CacheBlend (§4.2).
//
// Thread safety: the model's thread calls deviation().
#include <vector>

#include "session.h"

namespace kvasir {

struct SessionDeviation {
    // [layers][tokens]: squared L2 over KV heads of keys (with RoPE) and values.
    std::vector<float> k, v;
    // [layers]: L2 of the difference of an observed token's attention weights, root mean square over heads and tokens,
    // so that it lies within 0 and √2 whatever the model. Empty unless both sessions kept theirs.
    std::vector<float> attention;
};

// Of the tokens at positions begin … begin + count − 1, which both must hold. Sessions of the same model, whose traces
// (if any) are of the same tokens.
SessionDeviation deviation(const Session & a, const Session & b, int begin, int count);

}  // namespace kvasir
