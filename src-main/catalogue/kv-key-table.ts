import type { Database } from '../platform/database.ts';
import { unpackTokens } from '../platform/token-bytes.ts';
import { unpacked, type KeyedTokens, type RawTokens } from './chunk-table.ts';

/** Maps stored KV to chunks: the store knows keys, the catalogue knows texts. Rows are deleted with their chunk. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS chunk_kv_key (
    chunk_id INTEGER NOT NULL REFERENCES chunk(id) ON DELETE CASCADE,
    dtype TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (chunk_id, dtype)
  ) STRICT, WITHOUT ROWID;`;

export interface KeyPlace {
  key: string;
  documentId: number;
  ordinal: number;
}

/** Store keys of chunks, cached in the catalogue. */
export class KvKeyTable {
  readonly #sql: Database;

  constructor(sql: Database) {
    this.#sql = sql;
    sql.exec(SCHEMA);
  }

  /**
   * The places of these documents' keys. In this order of tables chunks are read from an index alone: their rows, with texts and tokens,
   * are a hundred times as large.
   */
  places(documentIds: readonly number[], dtypes: readonly string[]): KeyPlace[] {
    const query = `SELECT k.key, d.id AS documentId, c.ordinal
      FROM json_each(?) j CROSS JOIN document d ON d.id = j.value CROSS JOIN chunk_set s ON s.library_id = d.library_id
        CROSS JOIN chunk c ON c.chunk_set_id = s.id AND c.document_id = d.id
        CROSS JOIN chunk_kv_key k ON k.chunk_id = c.id
      WHERE k.dtype IN (SELECT value FROM json_each(?))`;
    return this.#sql.all(query, JSON.stringify(documentIds), JSON.stringify(dtypes));
  }

  /** A set's chunks of a document in order, each with its key in this format where known; read from indexes alone. */
  ofDocument(chunkSetId: number, documentId: number, dtype: string): { id: number; key: string | null }[] {
    const query = `SELECT c.id, k.key FROM chunk c LEFT JOIN chunk_kv_key k ON k.chunk_id = c.id AND k.dtype = ?
      WHERE c.chunk_set_id = ? AND c.document_id = ? ORDER BY c.ordinal`;
    return this.#sql.all(query, dtype, chunkSetId, documentId);
  }

  /** Stores keys of those chunks that still exist. */
  add(keys: ReadonlyMap<number, string>, dtype: string): void {
    const sql =
      'INSERT OR IGNORE INTO chunk_kv_key (chunk_id, dtype, key) SELECT id, ?, ? FROM chunk WHERE id = ?';
    this.#sql.transaction(() => {
      for (const [chunkId, key] of keys) this.#sql.run(sql, dtype, key, chunkId);
    });
  }

  /** Deletes a chunk's keys in all formats: it will be encoded with another lead. */
  forget(chunkId: number): void {
    this.#sql.run('DELETE FROM chunk_kv_key WHERE chunk_id = ?', chunkId);
  }

  /** Chunks without a key in this format; read from indexes alone. Usually there are none, which counting shows fastest. */
  missing(dtype: string): number[] {
    const counts =
      'SELECT (SELECT count(*) FROM chunk) = (SELECT count(*) FROM chunk_kv_key WHERE dtype = ?)';
    if (this.#sql.value(counts, dtype) === 1) return [];
    const query = `SELECT c.id FROM chunk_set s CROSS JOIN chunk c ON c.chunk_set_id = s.id
      WHERE s.prefix IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM chunk_kv_key k WHERE k.chunk_id = c.id AND k.dtype = ?)`;
    return this.#sql.column(query, dtype);
  }

  /** Stores a key in this format for those of the chunks that still exist. */
  put(chunkIds: readonly number[], dtype: string, keyOf: (chunk: KeyedTokens) => string): void {
    const query = `SELECT c.id, c.tokens, c.lead, s.fingerprint, s.prefix FROM chunk c JOIN chunk_set s ON s.id = c.chunk_set_id
      WHERE c.id IN (SELECT value FROM json_each(?))`;
    type Row = Pick<KeyedTokens, 'id' | 'fingerprint'> & RawTokens & { prefix: Buffer };
    const rows = this.#sql.all<Row>(query, JSON.stringify(chunkIds));
    const keys = new Map<number, string>();
    for (const { id, fingerprint, prefix, ...chunk } of rows)
      keys.set(id, keyOf({ id, fingerprint, ...unpacked(chunk), prefix: unpackTokens(prefix) }));
    this.add(keys, dtype);
  }
}
