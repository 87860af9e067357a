#pragma once
// Exact prefixes (a system prompt, say) that outlive the program: their blocks as a chunk file of a kind of its own,
// keys with RoPE at their positions from 0 on. Never to be blended: docs/formats/chunk-kv.md.
//
// Thread safety: the model's thread calls these functions.
#include <memory>
#include <vector>

#include "model.h"

namespace kvasir {

// The blocks that are cached of the beginning of `tokens`; null when there are none.
std::shared_ptr<ChunkKv> export_prefix(const Model & model, const std::vector<int32_t> & tokens);
// Caches its blocks again, used by nobody. CHUNK_MISMATCH, CHUNK_CORRUPT, OUT_OF_MEMORY.
void import_prefix(Model & model, const ChunkKv & prefix);
// Whether a chunk holds such a prefix of this model. CHUNK_MISMATCH.
void check_prefix(const Model & model, const ChunkKv & prefix);

}  // namespace kvasir
