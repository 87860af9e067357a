import type { KvDtype } from '../engine/engine.ts';
import { chunkKey } from '../kvstore/store.ts';
import { breathe } from '../platform/abort.ts';
import type { Database } from '../platform/database.ts';

/** Which stored KV is whose: the store knows keys, the catalogue knows texts. Rows go with their chunk. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS chunk_kv_key (
    chunk_id INTEGER NOT NULL REFERENCES chunk(id) ON DELETE CASCADE,
    dtype TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (chunk_id, dtype)
  ) STRICT, WITHOUT ROWID;`;

/** Keys made before other work gets its turn: about ten milliseconds. */
const SLICE = 500;

/** Where a key's text stands. */
export interface Place {
  key: string;
  documentId: number;
  libraryId: number;
  path: string;
  ordinal: number;
}

interface KeylessRow {
  id: number;
  tokens: Buffer;
  fingerprint: string;
  prefix: Buffer;
}

/** Keys of all chunks in the catalogue, kept beside them: making 50,000 takes seconds, reading them a moment. */
export class ChunkKeys {
  readonly #database: Database;
  #running: Promise<void> | undefined;

  constructor(database: Database) {
    this.#database = database;
    database.exec(SCHEMA);
  }

  /** Makes the keys of chunks that have none yet, in these formats. */
  async update(dtypes: readonly KvDtype[]): Promise<void> {
    await this.#running;
    this.#running = this.#makeMissing(dtypes).finally(() => (this.#running = undefined));
    return this.#running;
  }

  /**
   * Where every key's text stands. In this order of tables chunks are read from their index of places alone: their rows, with
   * texts and tokens, are a hundred times as large.
   */
  places(dtypes: readonly KvDtype[]): Place[] {
    const query = `SELECT k.key, c.document_id AS documentId, d.library_id AS libraryId, d.path, c.ordinal
      FROM chunk_set s CROSS JOIN document d ON d.library_id = s.library_id
        CROSS JOIN chunk c ON c.chunk_set_id = s.id AND c.document_id = d.id
        CROSS JOIN chunk_kv_key k ON k.chunk_id = c.id
      WHERE k.dtype IN (SELECT value FROM json_each(?))`;
    return this.#database.prepare(query).all(JSON.stringify(dtypes)) as Place[];
  }

  async #makeMissing(dtypes: readonly KvDtype[]): Promise<void> {
    const rowsOf = this.#database.prepare(
      `SELECT c.id, c.tokens, s.fingerprint, s.prefix FROM chunk c JOIN chunk_set s ON s.id = c.chunk_set_id
       WHERE c.id IN (SELECT value FROM json_each(?))`,
    );
    const add = this.#database.prepare(
      'INSERT OR IGNORE INTO chunk_kv_key (chunk_id, dtype, key) VALUES (?, ?, ?)',
    );
    for (const dtype of dtypes) {
      const missing = this.#missing(dtype);
      for (let done = 0; done < missing.length; done += SLICE) {
        const rows = rowsOf.all(JSON.stringify(missing.slice(done, done + SLICE))) as KeylessRow[];
        this.#database.transaction(() => {
          for (const row of rows) add.run(row.id, dtype, keyOf(row, dtype));
        })();
        await breathe();
      }
    }
  }

  /** Chunks without a key in this format; from indexes alone. */
  #missing(dtype: KvDtype): number[] {
    const query = `SELECT c.id FROM chunk_set s CROSS JOIN chunk c ON c.chunk_set_id = s.id
      WHERE s.prefix IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM chunk_kv_key k WHERE k.chunk_id = c.id AND k.dtype = ?)`;
    return this.#database.prepare(query).pluck().all(dtype) as number[];
  }
}

function keyOf({ fingerprint, prefix, tokens }: KeylessRow, dtype: KvDtype): string {
  return chunkKey({ fingerprint, dtype, prefix: tokenIds(prefix), tokens: tokenIds(tokens) });
}

/** Stored as little-endian int32. */
function tokenIds(bytes: Buffer): Int32Array {
  return Int32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readInt32LE(i * 4));
}
