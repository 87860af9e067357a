import type { Corpus } from '../models/impact.ts';
import type { Database } from '../platform/database.ts';

/** How much text the libraries hold, as a model's chunk sets of one size cut it. */
export function corpusOf(database: Database, sets: { fingerprint: string; chunkTokens: number }): Corpus {
  const query = `SELECT coalesce(sum(k.chunks), 0) AS chunks, coalesce(sum(k.tokens), 0) AS tokens
    FROM chunking k JOIN chunk_set s ON s.id = k.chunk_set_id
    WHERE s.fingerprint = @fingerprint AND s.chunk_tokens = @chunkTokens`;
  return database.prepare(query).get(sets) as Corpus;
}
