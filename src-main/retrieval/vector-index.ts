import { breathe, throwIfAborted } from '../platform/abort.ts';
import type { Database } from '../platform/database.ts';
import type { Hit, IndexScope } from './search-index.ts';

/**
 * Vectors as little-endian f32, a row for each chunk and embedding model. They go with their chunk.
 */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS embedding_model (
    id INTEGER PRIMARY KEY,
    identity TEXT NOT NULL UNIQUE -- of the file's content
  ) STRICT;
  CREATE TABLE IF NOT EXISTS chunk_vector (
    id INTEGER PRIMARY KEY,
    chunk_id INTEGER NOT NULL REFERENCES chunk(id) ON DELETE CASCADE,
    model_id INTEGER NOT NULL REFERENCES embedding_model(id) ON DELETE CASCADE,
    vector BLOB NOT NULL,
    UNIQUE (chunk_id, model_id)
  ) STRICT;`;

/** Vectors compared before other work gets its turn: a few milliseconds. */
const SLICE = 1000;

/** Cosine below which a passage has nothing to do with a question, for the embedding models in common use. */
const MIN_SIMILARITY = 0.3;

export interface Unembedded {
  chunkId: number;
  /** Titles above the chunk, then its text. */
  text: string;
}

interface ScannedRow extends Omit<Hit, 'score'> {
  id: number;
  inReach: 0 | 1;
  vector: Buffer;
}

/** The chunks' vectors by one embedding model. */
export class VectorIndex {
  readonly #database: Database;
  readonly #model: number;

  constructor(database: Database, identity: string) {
    this.#database = database;
    database.exec(SCHEMA);
    database.prepare('INSERT OR IGNORE INTO embedding_model (identity) VALUES (?)').run(identity);
    this.#model = database
      .prepare('SELECT id FROM embedding_model WHERE identity = ?')
      .pluck()
      .get(identity) as number;
  }

  /** Chunks that have no vector yet, of a set or of one of its documents. */
  missing(chunkSetId: number, limit: number, documentId?: number): Unembedded[] {
    const query = `SELECT c.id AS chunkId, c.title || char(10) || c.text AS text FROM chunk c
      WHERE c.chunk_set_id = @chunkSetId AND (@documentId IS NULL OR c.document_id = @documentId)
        AND NOT EXISTS (SELECT 1 FROM chunk_vector WHERE chunk_id = c.id AND model_id = @model)
      ORDER BY c.id LIMIT @limit`;
    const parameters = { chunkSetId, documentId: documentId ?? null, limit, model: this.#model };
    return this.#database.prepare(query).all(parameters) as Unembedded[];
  }

  /** Keeps vectors, one after another in `values`; chunks that are gone by now are passed over. */
  put(chunkIds: readonly number[], values: Float32Array): void {
    const dimension = values.length / chunkIds.length;
    const add = this.#database.prepare(
      'INSERT OR REPLACE INTO chunk_vector (chunk_id, model_id, vector) SELECT id, @model, @vector FROM chunk WHERE id = @chunkId',
    );
    this.#database.transaction(() => {
      chunkIds.forEach((chunkId, i) => {
        const { buffer, byteOffset, byteLength } = values.subarray(i * dimension, (i + 1) * dimension);
        add.run({ model: this.#model, chunkId, vector: Buffer.from(buffer, byteOffset, byteLength) });
      });
    })();
  }

  /** The chunks whose vectors are nearest to `query`, by cosine, nearest first. ABORTED. */
  async nearest(query: Float32Array, scope: IndexScope, limit: number, signal?: AbortSignal): Promise<Hit[]> {
    const best: Hit[] = [];
    // Vectors as they lie on disk, and for each its chunk; left to itself, SQLite sorts the whole set for every slice.
    const next = this.#database.prepare(
      `SELECT v.id, v.model_id = @model AND c.chunk_set_id IN (SELECT value FROM json_each(@sets))
         AND (@documents IS NULL OR c.document_id IN (SELECT value FROM json_each(@documents))) AS inReach,
         c.id AS chunkId, c.document_id AS documentId, c.ordinal, v.vector
       FROM chunk_vector v CROSS JOIN chunk c ON c.id = v.chunk_id
       WHERE v.id > @after ORDER BY v.id LIMIT ${SLICE}`,
    );
    const sets = JSON.stringify(scope.chunkSetIds);
    const documents = scope.documentIds ? JSON.stringify(scope.documentIds) : null;
    for (let after = 0; ;) {
      throwIfAborted(signal);
      const rows = next.all({ model: this.#model, after, sets, documents }) as ScannedRow[];
      for (const { inReach, vector, chunkId, documentId, ordinal } of rows) {
        if (inReach === 0) continue;
        const score = dot(query, floats(vector));
        if (score >= MIN_SIMILARITY) best.push({ chunkId, documentId, ordinal, score });
      }
      const last = rows.at(-1);
      best.sort((a, b) => b.score - a.score || a.chunkId - b.chunkId).splice(limit);
      if (!last || rows.length < SLICE) return best;
      after = last.id;
      await breathe();
    }
  }

  /** Forgets the vectors of every other model. */
  keepOnlyThis(): void {
    this.#database.prepare('DELETE FROM embedding_model WHERE id <> ?').run(this.#model);
  }
}

function floats(bytes: Buffer): Float32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : Buffer.from(new Uint8Array(bytes));
  return new Float32Array(aligned.buffer, aligned.byteOffset, Math.floor(aligned.byteLength / 4));
}

/** Of unit vectors the dot product is the cosine. */
function dot(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length) return 0;
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
