import type { Database } from '../platform/database.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import { IN_SCOPE, type BoundScope, type ChunkPlace } from './word-table.ts';

/** Vectors as little-endian f32, one row for each chunk and embedding model. They are deleted with their chunk. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS embedding_model (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE -- of the file's content, and of its rules for passages
  ) STRICT;
  CREATE TABLE IF NOT EXISTS chunk_vector (
    id INTEGER PRIMARY KEY,
    chunk_id INTEGER NOT NULL REFERENCES chunk(id) ON DELETE CASCADE,
    model_id INTEGER NOT NULL REFERENCES embedding_model(id) ON DELETE CASCADE,
    vector BLOB NOT NULL,
    UNIQUE (chunk_id, model_id)
  ) STRICT;`;

/** Rows deleted before yielding to other work. */
const ROWS_AT_ONCE = 200;

export interface UnembeddedChunk {
  chunkId: number;
  /** Titles above the chunk. */
  title: string;
  text: string;
  /** Of the chunk, for the model that it was created for. */
  tokens: number;
}

interface VectorRow extends ChunkPlace {
  id: number;
  /** Of the model, and in scope. */
  inReach: 0 | 1;
  vector: Buffer;
}

/** The chunks' vectors, by embedding model. */
export class VectorTable {
  readonly #sql: Database;

  constructor(sql: Database) {
    this.#sql = sql;
  }

  /** Id of an embedding model; creates the tables for the first one. */
  modelId(identity: string): number {
    this.#sql.exec(SCHEMA);
    this.#sql.run('INSERT OR IGNORE INTO embedding_model (identity) VALUES (?)', identity);
    return this.#sql.value<number>('SELECT id FROM embedding_model WHERE identity = ?', identity) as number;
  }

  /** Chunks after `after` that have no vector yet, of a set or of one of its documents. */
  missing(
    model: number,
    { chunkSetId, documentId = null }: { chunkSetId: number; documentId?: number | null | undefined },
    after: number,
    limit: number,
  ): UnembeddedChunk[] {
    const query = `SELECT c.id AS chunkId, c.title, c.text,
        length(c.tokens) / 4 AS tokens FROM chunk c
      WHERE c.chunk_set_id = @chunkSetId AND (@documentId IS NULL OR c.document_id = @documentId) AND c.id > @after
        AND NOT EXISTS (SELECT 1 FROM chunk_vector WHERE chunk_id = c.id AND model_id = @model)
      ORDER BY c.id LIMIT @limit`;
    return this.#sql.all(query, { model, chunkSetId, documentId, after, limit });
  }

  /** How many tokens of a document's chunks in a set have no vector yet. */
  missingTokens(model: number, chunkSetId: number, documentId: number): number {
    const query = `SELECT coalesce(sum(length(c.tokens) / 4), 0) FROM chunk c
      WHERE c.chunk_set_id = @chunkSetId AND c.document_id = @documentId
        AND NOT EXISTS (SELECT 1 FROM chunk_vector WHERE chunk_id = c.id AND model_id = @model)`;
    return this.#sql.value<number>(query, { model, chunkSetId, documentId }) ?? 0;
  }

  /** Stores vectors by chunk id; chunks that no longer exist are skipped. */
  put(model: number, vectors: readonly (readonly [chunkId: number, vector: Buffer])[]): void {
    const sql = `INSERT OR REPLACE INTO chunk_vector (chunk_id, model_id, vector)
      SELECT id, @model, @vector FROM chunk WHERE id = @chunkId`;
    this.#sql.transaction(() => {
      for (const [chunkId, vector] of vectors) this.#sql.run(sql, { model, chunkId, vector });
    });
  }

  /** The next `limit` vectors after `after`. */
  scan(model: number, scope: BoundScope, after: number, limit: number): VectorRow[] {
    // Vectors in disk order, each with its chunk; without the hint, SQLite sorts the whole set for every slice.
    const query = `SELECT v.id, v.model_id = @model AND ${IN_SCOPE} AS inReach,
        c.id AS chunkId, c.document_id AS documentId, c.ordinal, v.vector
      FROM chunk_vector v CROSS JOIN chunk c ON c.id = v.chunk_id
      WHERE v.id > @after ORDER BY v.id LIMIT @limit`;
    return this.#sql.all(query, { model, ...scope, after, limit });
  }

  /** Ids of the chunks of a scope that names documents. */
  chunksOf(scope: BoundScope): number[] {
    const query = `SELECT c.id FROM json_each(@documents) j CROSS JOIN chunk c ON c.document_id = j.value
      WHERE ${IN_SCOPE} ORDER BY c.id`;
    return this.#sql.column(query, { ...scope });
  }

  /** The vectors of these chunks. */
  of(model: number, chunkIds: readonly number[]): VectorRow[] {
    const query = `SELECT v.id, 1 AS inReach, c.id AS chunkId, c.document_id AS documentId, c.ordinal, v.vector
      FROM json_each(@chunks) j CROSS JOIN chunk_vector v ON v.chunk_id = j.value AND v.model_id = @model
        CROSS JOIN chunk c ON c.id = v.chunk_id`;
    return this.#sql.all(query, { model, chunks: JSON.stringify(chunkIds) });
  }

  /** Deletes the vectors of every other model, some rows at a time. ABORTED. */
  async keepOnly(model: number, signal: AbortSignal): Promise<void> {
    const slice = new TimeSlice();
    const newest = this.#sql.value<number | null>('SELECT max(id) FROM chunk_vector') ?? 0;
    for (let after = 0; after < newest; after += ROWS_AT_ONCE) {
      const sql = 'DELETE FROM chunk_vector WHERE id > ? AND id <= ? AND model_id <> ?';
      this.#sql.run(sql, after, after + ROWS_AT_ONCE, model);
      await slice.step(signal);
    }
    this.#sql.run('DELETE FROM embedding_model WHERE id <> ?', model);
  }
}
