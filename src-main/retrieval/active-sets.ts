import type { Catalogue } from '../catalogue/catalogue.ts';
import type { ModelSource } from '../models/active-model.ts';
import type { ChunkSets } from './types.ts';

/** The catalogue's chunk sets for the active model and chunk size; none while no model is loaded. */
export function activeChunkSets(
  { chunkTable, libraries }: Pick<Catalogue, 'chunkTable' | 'libraries'>,
  models: Pick<ModelSource, 'active'>,
): ChunkSets {
  return {
    get chunkTokens() {
      return models.active?.chunkTokens;
    },
    chunkSets(libraryIds) {
      const { active } = models;
      if (!active) return [];
      return chunkTable.findSets(active.model.info.fingerprint, active.chunkTokens, libraryIds);
    },
    standIns(libraryIds) {
      const { active } = models;
      if (!active) return new Map();
      return chunkTable.standIns(active.model.info.fingerprint, active.chunkTokens, libraryIds);
    },
    asked: (libraryIds) => libraries.asked(libraryIds),
  };
}
