#pragma once
// The layout of one append's tokens: which are computed, which come from chunks, and their positions.
//
// Thread safety: belongs to the model's thread.
#include <optional>

#include "engine/graph/forward.h"
#include "engine/model.h"

namespace kvasir {

struct Segment {
    std::vector<int32_t> tokens;             // to compute, if chunk is null
    std::shared_ptr<const ChunkKv> chunk{};  // otherwise cached KV to place
    std::optional<TokenRange> range{};       // of the chunk's tokens; absent: all of them
};

struct Prompt {
    // `reuse` false: chunks are treated as plain text. CHUNK_MISMATCH, CONTEXT_OVERFLOW, BAD_ARGUMENT.
    Prompt(const Model & model, const std::vector<Segment> & segments, bool reuse, int past, int capacity);

    int size() const { return int(tokens.size()); }
    // Number of tokens before the first placed chunk.
    int plain_tokens() const { return placements.empty() ? size() : placements.front().position - past; }

    int past;                    // tokens before the prompt: token i is at position past + i
    std::vector<int32_t> tokens;
    std::vector<bool> reusable;  // from a chunk, and not the last token, whose logits are needed
    int reusable_tokens = 0;     // tokens from chunks
    int question_begin = 0;      // the first token after the last chunk

    std::vector<std::shared_ptr<const ChunkKv>> chunks;  // each once, even if several ranges of it are placed
    std::vector<int> segment_of_chunk;                   // the first segment that places it
    std::vector<Forward::Placement> placements;          // without the stored KV
    std::vector<size_t> chunk_of_placement;              // index in chunks
};

}  // namespace kvasir
