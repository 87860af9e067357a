import type { Database } from '../platform/database.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import type { ChunkPlace } from './search-scope.ts';

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

/** A chunk's vector; null: by another model. */
interface VectorRow {
  id: number;
  chunkId: number;
  documentId: number;
  setId: number;
  vector: Buffer | null;
}

const ROWS = `SELECT v.id, c.id AS chunkId, c.document_id AS documentId, c.chunk_set_id AS setId,
  iif(v.model_id = @model, v.vector, NULL) AS vector
  FROM chunk_vector v CROSS JOIN chunk c INDEXED BY chunk_place ON c.id = v.chunk_id`;

/** Of this connection alone. */
const TELL_DELETED = `CREATE TEMP TRIGGER IF NOT EXISTS vector_deleted AFTER DELETE ON main.chunk_vector
  BEGIN SELECT kvasir_vector_deleted(old.model_id, old.id, old.chunk_id); END`;

/** The chunks' vectors, by embedding model. */
export class VectorTable {
  readonly #sql: Database;
  readonly #listeners = new Set<{ model: number; onDelete: (id: number, chunkId: number) => void }>();

  constructor(sql: Database) {
    this.#sql = sql;
    sql.define('kvasir_vector_deleted', (ofModel, id, chunkId) => {
      for (const { model, onDelete } of this.#listeners)
        if (model === Number(ofModel)) onDelete(Number(id), Number(chunkId));
      return '';
    });
  }

  /**
   * Calls a listener with each row of a model that is deleted, by whichever statement; its transaction may still be undone, and its id be
   * used again. Returns a function that ends it.
   */
  onDelete(model: number, onDelete: (id: number, chunkId: number) => void): () => void {
    const listener = { model, onDelete };
    this.#sql.exec(TELL_DELETED);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
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

  /** Stores vectors by chunk id; chunks that no longer exist, or have one, are skipped. */
  put(model: number, vectors: readonly (readonly [chunkId: number, vector: Buffer])[]): void {
    const sql = `INSERT OR IGNORE INTO chunk_vector (chunk_id, model_id, vector)
      SELECT id, @model, @vector FROM chunk WHERE id = @chunkId`;
    this.#sql.transaction(() => {
      for (const [chunkId, vector] of vectors) this.#sql.run(sql, { model, chunkId, vector });
    });
  }

  /** The next `limit` rows after `after`, by id, of all models. */
  after(model: number, after: number, limit: number): VectorRow[] {
    return this.#sql.all(`${ROWS} WHERE v.id > @after ORDER BY v.id LIMIT @limit`, { model, after, limit });
  }

  /** The rows that have the id or the chunk of one that was deleted: its deletion was undone, or the id is used again. */
  inPlaceOf(model: number, deleted: readonly (readonly [id: number, chunkId: number])[]): VectorRow[] {
    const query = `${ROWS} WHERE v.id IN (SELECT value ->> 0 FROM json_each(@deleted))
      OR v.chunk_id IN (SELECT value ->> 1 FROM json_each(@deleted))`;
    return this.#sql.all(query, { model, deleted: JSON.stringify(deleted) });
  }

  /** The vectors of these chunks. */
  of(model: number, chunkIds: readonly number[]): (ChunkPlace & { vector: Buffer })[] {
    const query = `SELECT c.id AS chunkId, c.document_id AS documentId, c.ordinal, v.vector
      FROM json_each(@chunks) j CROSS JOIN chunk_vector v ON v.chunk_id = j.value AND v.model_id = @model
        CROSS JOIN chunk c INDEXED BY chunk_place ON c.id = v.chunk_id`;
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
