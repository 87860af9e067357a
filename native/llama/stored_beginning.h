#pragma once
// Beginnings of prompts that outlive the process: libllama's bytes of a whole memory, in a special kind of chunk file
// (docs/formats/chunk-kv.md). They are restored only behind exactly the file's tokens.
//
// Thread safety: the model's thread calls these functions, except state_root(): any thread.
#include <memory>
#include <vector>

#include "engine/chunks/chunk_kv.h"
#include "llama/llama_model.h"

namespace kvasir {

// In place of the encoding prefix's hash: names this kind, the model, and the build of libllama, since only the build
// that wrote a memory's bytes is sure to read them.
Digest state_root(const LlamaModel & model);
// The memory of the longest beginning of `tokens` that can be restored; null if that is under a block.
std::shared_ptr<ChunkKv> export_prefix(LlamaModel & model, const std::vector<int32_t> & tokens);
// Checks that a file holds a beginning for this model. CHUNK_MISMATCH.
void check_prefix(const LlamaModel & model, const ChunkKv & stored);
// Adds it to the model's beginnings. CHUNK_MISMATCH, CHUNK_CORRUPT, OUT_OF_MEMORY.
void import_prefix(LlamaModel & model, const ChunkKv & stored);

}  // namespace kvasir
