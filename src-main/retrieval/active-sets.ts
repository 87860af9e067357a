import type { ChunkTable } from '../catalogue/chunk-table.ts';
import type { ModelSource } from '../models/active-model.ts';
import type { ChunkSets } from './types.ts';

/** The chunk sets that the catalogue has for the active model and chunk size; none while no model is loaded. */
export function activeChunkSets(chunks: ChunkTable, models: Pick<ModelSource, 'active'>): ChunkSets {
  return {
    get chunkTokens() {
      return models.active?.chunkTokens;
    },
    chunkSets(libraryIds) {
      const { active } = models;
      if (!active) return [];
      return chunks.findSets(active.model.info.fingerprint, active.chunkTokens, libraryIds);
    },
  };
}
