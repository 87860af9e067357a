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

  /** Documents by path, their chunks by place. */
  places(dtypes: readonly KvDtype[]): Place[] {
    const query = `SELECT k.key, c.document_id AS documentId, d.library_id AS libraryId, d.path, c.ordinal
      FROM chunk_kv_key k JOIN chunk c ON c.id = k.chunk_id JOIN document d ON d.id = c.document_id
      WHERE k.dtype IN (SELECT value FROM json_each(?))`;
    return this.#database.prepare(query).all(JSON.stringify(dtypes)) as Place[];
  }

  async #makeMissing(dtypes: readonly KvDtype[]): Promise<void> {
    const next = this.#database.prepare(
      `SELECT c.id, c.tokens, s.fingerprint, s.prefix FROM chunk c JOIN chunk_set s ON s.id = c.chunk_set_id
       WHERE c.id > @after AND s.prefix IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM chunk_kv_key k WHERE k.chunk_id = c.id AND k.dtype = @dtype)
       ORDER BY c.id LIMIT ${SLICE}`,
    );
    const add = this.#database.prepare(
      'INSERT OR IGNORE INTO chunk_kv_key (chunk_id, dtype, key) VALUES (?, ?, ?)',
    );
    for (const dtype of dtypes) {
      for (let after = 0; ;) {
        const rows = next.all({ after, dtype }) as KeylessRow[];
        this.#database.transaction(() => {
          for (const row of rows) add.run(row.id, dtype, keyOf(row, dtype));
        })();
        const last = rows.at(-1);
        if (!last || rows.length < SLICE) break;
        after = last.id;
        await breathe();
      }
    }
  }
}

function keyOf({ fingerprint, prefix, tokens }: KeylessRow, dtype: KvDtype): string {
  return chunkKey({ fingerprint, dtype, prefix: tokenIds(prefix), tokens: tokenIds(tokens) });
}

/** Stored as little-endian int32. */
function tokenIds(bytes: Buffer): Int32Array {
  return Int32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readInt32LE(i * 4));
}
