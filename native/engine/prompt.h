#pragma once
// One append's tokens laid out: what must be computed, what stands in chunks, where everything goes.
//
// Thread safety: belongs to the model's thread.
#include <optional>

#include "forward.h"
#include "model.h"

namespace kvasir {

struct Segment {
    std::vector<int32_t> tokens;             // to compute, when chunk is null
    std::shared_ptr<const ChunkKv> chunk{};  // else cached KV to place
    std::optional<TokenRange> range{};       // which of the chunk's tokens; all of them where it is absent
};

struct Prompt {
    // `reuse` false: chunks are text like any other. CHUNK_MISMATCH, CONTEXT_OVERFLOW, BAD_ARGUMENT.
    Prompt(const Model & model, const std::vector<Segment> & segments, bool reuse, int past, int capacity);

    int size() const { return int(tokens.size()); }

    int past;                    // tokens before the prompt: token i stands at position past + i
    std::vector<int32_t> tokens;
    std::vector<bool> reusable;  // stands in a chunk, and is not the last token, whose logits are needed
    int reusable_tokens = 0;     // that stand in chunks
    int question_begin = 0;      // the first token behind the last chunk

    std::vector<std::shared_ptr<const ChunkKv>> chunks;  // each once, however many ranges of it are placed
    std::vector<int> segment_of_chunk;                   // the first one that places it
    std::vector<Forward::Placement> placements;          // without what is stored
    std::vector<size_t> chunk_of_placement;              // index in chunks
};

}  // namespace kvasir
