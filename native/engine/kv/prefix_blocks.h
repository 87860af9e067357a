#pragma once
// Exact prefixes (such as a system prompt) that outlive the process: their blocks in a special kind of chunk file, keys
// with RoPE at positions from 0. They are never blended: docs/formats/chunk-kv.md.
//
// Thread safety: the model's thread calls these functions.
#include <memory>
#include <vector>

#include "engine/model.h"

namespace kvasir {

// The cached blocks of the longest cached prefix of `tokens`; null if there are none.
std::shared_ptr<ChunkKv> export_prefix(const Model & model, const std::vector<int32_t> & tokens);
// Caches the blocks again, with no references. CHUNK_MISMATCH, CHUNK_CORRUPT, OUT_OF_MEMORY.
void import_prefix(Model & model, const ChunkKv & prefix);
// Checks that a chunk holds such a prefix of this model. CHUNK_MISMATCH.
void check_prefix(const Model & model, const ChunkKv & prefix);

}  // namespace kvasir
