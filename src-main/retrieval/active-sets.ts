import type { ModelSource } from '../models/active-model.ts';
import type { Database } from '../platform/database.ts';
import type { ChunkSets } from './types.ts';

/** The chunk sets that the catalogue has for the active model and chunk size; none while no model is loaded. */
export function activeChunkSets(database: Database, models: Pick<ModelSource, 'active'>): ChunkSets {
  return {
    chunkSets(libraryIds) {
      const { active } = models;
      if (!active) return [];
      const query = `SELECT id FROM chunk_set WHERE fingerprint = @fingerprint AND chunk_tokens = @chunkTokens
        AND (@libraries IS NULL OR library_id IN (SELECT CAST(value AS INTEGER) FROM json_each(@libraries))) ORDER BY id`;
      const parameters = {
        fingerprint: active.model.info.fingerprint,
        chunkTokens: active.chunkTokens,
        libraries: libraryIds.length > 0 ? JSON.stringify(libraryIds) : null,
      };
      return database.prepare(query).pluck().all(parameters) as number[];
    },
  };
}
