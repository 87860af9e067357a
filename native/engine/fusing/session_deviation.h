#pragma once
// How far the KV and attention of one session are from another's: the deviations of CacheBlend (§4.2).
//
// Thread safety: the model's thread calls deviation().
#include <vector>

#include "engine/session.h"

namespace kvasir {

struct SessionDeviation {
    // [layers][tokens]: squared L2 over KV heads of keys (with RoPE) and values.
    std::vector<float> k, v;
    // [layers]: L2 of the difference of an observed token's attention weights, root mean square over heads and tokens,
    // so that it is between 0 and √2 for any model. Empty unless both sessions kept a trace.
    std::vector<float> attention;
};

// Compares the tokens at positions begin … begin + count − 1, which both sessions must hold. Both must be of the same
// model, and their traces (if any) of the same tokens.
SessionDeviation deviation(const Session & a, const Session & b, int begin, int count);

}  // namespace kvasir
