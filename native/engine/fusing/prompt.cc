#include "prompt.h"

#include <algorithm>

#include "engine/error.h"

namespace kvasir {

namespace {

void check_chunk(const Model & model, const ChunkKv & chunk, int segment) {
    if (model.encodes(chunk.shape())) return;
    Error e("CHUNK_MISMATCH",
            "A cached chunk was computed by another model or vocabulary and cannot be used with this one.",
            "Kvasir recomputes it for this model.");
    e.chunk_index = segment;
    throw e;
}

TokenRange range_of(const Segment & s) {
    const size_t n = s.chunk->n_tokens();
    const TokenRange range = s.range.value_or(TokenRange{0, n});
    require(range.count > 0 && range.begin < n && range.count <= n - range.begin,
            "a segment's range is outside its chunk");
    return range;
}

}  // namespace

Prompt::Prompt(const Model & model, const std::vector<Segment> & segments, bool reuse, int past_, int capacity)
    : past(past_) {
    for (size_t i = 0; i < segments.size(); ++i) {
        const Segment & s = segments[i];
        if (s.chunk) check_chunk(model, *s.chunk, int(i));
        const std::vector<int32_t> & ids = s.chunk ? s.chunk->tokens() : s.tokens;
        const TokenRange range = s.chunk ? range_of(s) : TokenRange{0, ids.size()};
        const bool reused = s.chunk && reuse;
        if (reused) {
            const auto known = std::find(chunks.begin(), chunks.end(), s.chunk);
            chunk_of_placement.push_back(size_t(known - chunks.begin()));
            if (known == chunks.end()) chunks.push_back(s.chunk), segment_of_chunk.push_back(int(i));
            placements.push_back({s.chunk.get(), {}, range, past + size()});
            reusable_tokens += int(range.count);
            question_begin = size() + int(range.count);
        }
        const auto first = ids.begin() + std::ptrdiff_t(range.begin);
        tokens.insert(tokens.end(), first, first + std::ptrdiff_t(range.count));
        reusable.resize(tokens.size(), reused);
    }
    require(!tokens.empty(), "append needs at least one token");
    model.check_tokens(tokens);
    if (past + size() > capacity) {
        throw Error("CONTEXT_OVERFLOW",
                    "The prompt needs " + std::to_string(past + size()) + " tokens, but the context holds " +
                        std::to_string(capacity) + ".",
                    "Use fewer chunks or a larger context.");
    }
    reusable.back() = false;  // its logits start the answer
}

}  // namespace kvasir
