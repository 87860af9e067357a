import type { Database } from '../platform/database.ts';
import { packTokens, unpackTokens } from '../platform/token-bytes.ts';

/** Follows every chunk, so that chunks can be concatenated in any order. */
export const CHUNK_SEPARATOR = '\n\n';

/** A piece of a document as chunked for a model. */
export interface TextChunk {
  /** UTF-16 range in the text; the ranges of all chunks cover it without gaps. */
  start: number;
  end: number;
  /** The range's text without white space at its ends. */
  text: string;
  /** Exactly the token ids of `text + CHUNK_SEPARATOR`: encoded, stored, and put into prompts. */
  tokens: Int32Array;
  /** Headings above the chunk, outermost first; and those of them that the chunk does not contain. */
  headings: readonly string[];
  above: readonly string[];
}

export interface ChunkRow {
  id: number;
  libraryId: number;
  documentId: number;
  /** The document's path and title. */
  path: string;
  documentTitle: string;
  ordinal: number;
  /** UTF-16 range in the document's text. */
  start: number;
  end: number;
  /** The document's title and the headings above the chunk. */
  title: string;
  text: string;
  tokens: Int32Array;
  /** The context it is encoded with, besides the model's prefix: the ids of the headings and the text above it. */
  lead: Int32Array;
}

/** Everything that determines the tokens of a set's chunks and their keys in the store. */
export interface ChunkSetKey {
  libraryId: number;
  /** The model whose tokenizer produced the ids. */
  fingerprint: string;
  chunkTokens: number;
  /** The model's encoding prefix. */
  prefix: Int32Array;
}

/** A chunk's tokens, and the model fields that identify their KV. */
export interface KeyedTokens {
  id: number;
  tokens: Int32Array;
  lead: Int32Array;
  fingerprint: string;
  prefix: Int32Array;
}

interface ChunkCounts {
  chunks: number;
  tokens: number;
  cachedChunks: number;
  cachedBytes: number;
}

/** A document that a set has all chunks of. */
interface ChunkedDocument {
  id: number;
  path: string;
  setId: number;
  tokens: number;
}

/** A chunk without its text: its size, and the document's title with the headings above it. */
export interface ChunkSize {
  id: number;
  title: string;
  tokens: number;
}

/** Token ids as stored: little-endian int32. */
export interface RawTokens {
  tokens: Buffer;
  lead: Buffer;
}

type RawChunkRow = Omit<ChunkRow, 'tokens' | 'lead'> & RawTokens;

const SELECT = `SELECT c.id, d.library_id AS libraryId, c.document_id AS documentId, d.path, d.title AS documentTitle,
  c.ordinal, c.char_start AS start, c.char_end AS end, c.title, c.text, c.tokens, c.lead
  FROM chunk c JOIN document d ON d.id = c.document_id`;

/** Sets of chunks. Triggers of the search index follow every change here, in the same transactions. */
export class ChunkTable {
  readonly #sql: Database;

  constructor(sql: Database) {
    this.#sql = sql;
  }

  /** Id of the set; created if missing. */
  setId({ libraryId, fingerprint, chunkTokens, prefix }: ChunkSetKey): number {
    const sql = `INSERT INTO chunk_set (library_id, fingerprint, chunk_tokens, prefix) VALUES (?, ?, ?, ?)
      ON CONFLICT (library_id, fingerprint, chunk_tokens) DO UPDATE SET prefix = excluded.prefix RETURNING id`;
    return this.#sql.value<number>(sql, libraryId, fingerprint, chunkTokens, packTokens(prefix)) as number;
  }

  findSet(libraryId: number, fingerprint: string, chunkTokens: number): number | undefined {
    const query = 'SELECT id FROM chunk_set WHERE library_id = ? AND fingerprint = ? AND chunk_tokens = ?';
    return this.#sql.value<number>(query, libraryId, fingerprint, chunkTokens);
  }

  /**
   * Documents of these libraries (of all when none is named) that are not chunked for a model and chunk size, each with another set that
   * has all of its chunks: of the same model if there is one, and of the nearest chunk size.
   */
  standIns(fingerprint: string, chunkTokens: number, libraryIds: readonly string[]): Map<number, number> {
    const query = `SELECT d.id AS documentId, s.id AS setId,
        min((s.fingerprint <> @fingerprint) * 1000000 + abs(s.chunk_tokens - @chunkTokens)) AS distance
      FROM document d JOIN chunking k ON k.document_id = d.id AND k.sha256 = d.sha256
        JOIN chunk_set s ON s.id = k.chunk_set_id
      WHERE d.phase IN ('waiting', 'recognising', 'chunking')
        AND (@libraries IS NULL OR d.library_id IN (SELECT CAST(value AS INTEGER) FROM json_each(@libraries)))
        AND d.library_id NOT IN (SELECT id FROM library WHERE doomed)
      GROUP BY d.id HAVING distance > 0`;
    const libraries = libraryIds.length > 0 ? JSON.stringify(libraryIds) : null;
    const rows = this.#sql.all<{ documentId: number; setId: number }>(query, {
      fingerprint,
      chunkTokens,
      libraries,
    });
    return new Map(rows.map(({ documentId, setId }) => [documentId, setId]));
  }

  /** Fingerprint of the model that a chunk was created for. */
  modelOf(id: number): string | undefined {
    const query =
      'SELECT s.fingerprint FROM chunk c JOIN chunk_set s ON s.id = c.chunk_set_id WHERE c.id = ?';
    return this.#sql.value<string>(query, id);
  }

  /** The sets of these libraries; of all when none is named. */
  findSets(fingerprint: string, chunkTokens: number, libraryIds: readonly string[]): number[] {
    const query = `SELECT id FROM chunk_set WHERE fingerprint = @fingerprint AND chunk_tokens = @chunkTokens
      AND library_id NOT IN (SELECT id FROM library WHERE doomed)
      AND (@libraries IS NULL OR library_id IN (SELECT CAST(value AS INTEGER) FROM json_each(@libraries))) ORDER BY id`;
    const libraries = libraryIds.length > 0 ? JSON.stringify(libraryIds) : null;
    return this.#sql.column(query, { fingerprint, chunkTokens, libraries });
  }

  get(id: number): ChunkRow | undefined {
    const row = this.#sql.get<RawChunkRow>(`${SELECT} WHERE c.id = ?`, id);
    return row && toChunk(row);
  }

  page(setId: number, documentId: number, offset: number, limit: number): ChunkRow[] {
    const sql = `${SELECT} WHERE c.chunk_set_id = ? AND c.document_id = ? ORDER BY c.ordinal LIMIT ? OFFSET ?`;
    return this.#sql.all<RawChunkRow>(sql, setId, documentId, limit, offset).map(toChunk);
  }

  *inReadingOrder(setId: number): Generator<ChunkRow> {
    const query = `SELECT c.id FROM chunk c JOIN document d ON d.id = c.document_id WHERE c.chunk_set_id = ?
      ORDER BY d.path, c.ordinal`;
    for (const id of this.#sql.column<number>(query, setId)) {
      const row = this.get(id);
      if (row) yield row;
    }
  }

  /** Ids of a document's chunks in one set, in order. */
  ids(setId: number, documentId: number): number[] {
    const query = 'SELECT id FROM chunk WHERE chunk_set_id = ? AND document_id = ? ORDER BY ordinal';
    return this.#sql.column(query, setId, documentId);
  }

  /** The chunk at a position of a document's text in one set; undefined if the text has become shorter. */
  at(setId: number, documentId: number, position: number): number | undefined {
    const query = `SELECT id FROM chunk WHERE chunk_set_id = ? AND document_id = ? AND char_start <= ? AND char_end > ?
      ORDER BY ordinal LIMIT 1`;
    return this.#sql.value<number>(query, setId, documentId, position, position);
  }

  /** The chunks directly before and after one, in the document's current state. */
  neighbours(id: number): number[] {
    const query = `SELECT n.id FROM chunk c JOIN chunk n ON n.chunk_set_id = c.chunk_set_id AND n.document_id = c.document_id
      AND n.ordinal IN (c.ordinal - 1, c.ordinal + 1) WHERE c.id = ? ORDER BY n.ordinal`;
    return this.#sql.column(query, id);
  }

  text(id: number): string | undefined {
    return this.#sql.value<string>('SELECT text FROM chunk WHERE id = ?', id);
  }

  tokens(id: number): Pick<ChunkRow, 'tokens' | 'lead'> | undefined {
    const raw = this.#sql.get<RawTokens>('SELECT tokens, lead FROM chunk WHERE id = ?', id);
    return raw && unpacked(raw);
  }

  /** Number of a chunk's tokens, which are not read for it; 0 if there is no such chunk. */
  tokenCount(id: number): number {
    return this.#sql.value<number>('SELECT length(tokens) / 4 FROM chunk WHERE id = ?', id) ?? 0;
  }

  /** A document's chunks in all sets whose model's prefix is known. */
  *keyed(documentId: number): Generator<KeyedTokens> {
    const query = `SELECT id, fingerprint, prefix FROM chunk_set s WHERE prefix IS NOT NULL
      AND EXISTS (SELECT 1 FROM chunk c WHERE c.chunk_set_id = s.id AND c.document_id = ?)`;
    type KeyedSet = { id: number; fingerprint: string; prefix: Buffer };
    for (const { id: setId, fingerprint, prefix } of this.#sql.all<KeyedSet>(query, documentId)) {
      for (const id of this.ids(setId, documentId)) {
        const chunk = this.tokens(id);
        if (chunk) yield { id, ...chunk, fingerprint, prefix: unpackTokens(prefix) };
      }
    }
  }

  /** Whether any chunk has these tokens after this lead for a model. */
  has({ fingerprint, tokens, lead }: Omit<KeyedTokens, 'id' | 'prefix'>): boolean {
    const bytes = packTokens(tokens);
    const sql = `SELECT 1 FROM chunk c JOIN chunk_set s ON s.id = c.chunk_set_id
      WHERE substr(c.tokens, 1, 64) = substr(?, 1, 64) AND c.tokens = ? AND c.lead = ? AND s.fingerprint = ? LIMIT 1`;
    return this.#sql.value(sql, bytes, bytes, packTokens(lead), fingerprint) !== undefined;
  }

  /** Hash of the text that a set's chunks of a document were created from; undefined when they are incomplete. */
  chunkedHash(setId: number, documentId: number): string | undefined {
    const query = 'SELECT sha256 FROM chunking WHERE chunk_set_id = ? AND document_id = ?';
    return this.#sql.value<string>(query, setId, documentId);
  }

  /** A set's current chunks of a document: a newer text is split where the older one was. */
  existing(
    setId: number,
    documentId: number,
  ): Pick<ChunkRow, 'id' | 'ordinal' | 'start' | 'end' | 'title' | 'text' | 'lead'>[] {
    const query = `SELECT id, ordinal, char_start AS start, char_end AS end, title, text, lead FROM chunk
      WHERE chunk_set_id = ? AND document_id = ? ORDER BY abs(ordinal)`;
    type Row = Omit<ChunkRow, 'lead'> & { lead: Buffer };
    const rows = this.#sql.all<Row>(query, setId, documentId);
    return rows.map(({ lead, ...row }) => ({ ...row, lead: unpackTokens(lead) }));
  }

  /** Marks a set's chunks of a document as being changed; until `finish` they count as missing. */
  begin(setId: number, documentId: number): void {
    this.#sql.run('DELETE FROM chunking WHERE chunk_set_id = ? AND document_id = ?', setId, documentId);
  }

  finish(setId: number, documentId: number, sha256: string, chunks: number, tokens: number): void {
    const sql =
      'INSERT OR REPLACE INTO chunking (chunk_set_id, document_id, sha256, chunks, tokens) VALUES (?, ?, ?, ?, ?)';
    this.#sql.run(sql, setId, documentId, sha256, chunks, tokens);
  }

  /** Moves a chunk; its text, and therefore its id, stay. */
  move(id: number, ordinal: number, start: number, end: number): void {
    const sql = 'UPDATE chunk SET ordinal = ?, char_start = ?, char_end = ? WHERE id = ?';
    this.#sql.run(sql, ordinal, start, end, id);
  }

  insert(
    setId: number,
    documentId: number,
    chunk: Omit<ChunkRow, 'id' | 'libraryId' | 'documentId' | 'path' | 'documentTitle'>,
  ): void {
    this.#sql.run(
      `INSERT INTO chunk (chunk_set_id, document_id, ordinal, char_start, char_end, title, text, tokens, lead)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      setId,
      documentId,
      chunk.ordinal,
      chunk.start,
      chunk.end,
      chunk.title,
      chunk.text,
      packTokens(chunk.tokens),
      packTokens(chunk.lead),
    );
  }

  /** Gives a chunk another lead. Its KV keys change with it: call KvKeyTable.forget(). */
  setLead(id: number, lead: Int32Array): void {
    this.#sql.run('UPDATE chunk SET lead = ? WHERE id = ?', packTokens(lead), id);
  }

  remove(id: number): void {
    this.#sql.run('DELETE FROM chunk WHERE id = ?', id);
  }

  /** Deletes at most `limit` of a document's chunks; returns how many. */
  removeSome(documentId: number, limit: number): number {
    this.#sql.run('DELETE FROM chunking WHERE document_id = ?', documentId);
    const sql = 'DELETE FROM chunk WHERE id IN (SELECT id FROM chunk WHERE document_id = ? LIMIT ?)';
    return this.#sql.run(sql, documentId, limit);
  }

  /** Deletes at most `limit` chunks that sets other than `keptSet` created from another text of the document; returns how many. */
  removeStale(documentId: number, sha256: string, keptSet: number, limit: number): number {
    const stale = 'DELETE FROM chunking WHERE document_id = ? AND chunk_set_id <> ? AND sha256 <> ?';
    this.#sql.run(stale, documentId, keptSet, sha256);
    const sql = `DELETE FROM chunk WHERE id IN (SELECT c.id FROM chunk c WHERE c.document_id = ? AND c.chunk_set_id <> ?
      AND NOT EXISTS (SELECT 1 FROM chunking k WHERE k.chunk_set_id = c.chunk_set_id AND k.document_id = c.document_id)
      LIMIT ?)`;
    return this.#sql.run(sql, documentId, keptSet, limit);
  }

  /** The documents that these sets have all chunks of, by path: at most `most`; with the count and the tokens of all of them. */
  chunked(
    setIds: readonly number[],
    most: number,
  ): { documents: ChunkedDocument[]; count: number; tokens: number } {
    const query = `SELECT d.id, d.path, k.chunk_set_id AS setId, k.tokens, count(*) OVER () AS count, sum(k.tokens) OVER () AS sum
      FROM chunking k JOIN document d ON d.id = k.document_id
      WHERE k.chunks > 0 AND k.chunk_set_id IN (SELECT CAST(value AS INTEGER) FROM json_each(?)) ORDER BY d.path, d.id LIMIT ?`;
    type Row = ChunkedDocument & { count: number; sum: number };
    const rows = this.#sql.all<Row>(query, JSON.stringify(setIds), most);
    return {
      documents: rows.map(({ id, path, setId, tokens }) => ({ id, path, setId, tokens })),
      count: rows[0]?.count ?? 0,
      tokens: rows[0]?.sum ?? 0,
    };
  }

  /** A document's chunks in one set, in order. */
  sizes(setId: number, documentId: number): ChunkSize[] {
    const query = `SELECT id, title, length(tokens) / 4 AS tokens FROM chunk
      WHERE chunk_set_id = ? AND document_id = ? ORDER BY ordinal`;
    return this.#sql.all(query, setId, documentId);
  }

  counts(setId: number, documentId?: number): ChunkCounts {
    const query = `SELECT coalesce(sum(chunks), 0) AS chunks, coalesce(sum(tokens), 0) AS tokens,
      coalesce(sum(cached_chunks), 0) AS cachedChunks, coalesce(sum(cached_bytes), 0) AS cachedBytes
      FROM chunking WHERE chunk_set_id = ? ${documentId === undefined ? '' : 'AND document_id = ?'}`;
    const values = documentId === undefined ? [setId] : [setId, documentId];
    return this.#sql.get<ChunkCounts>(query, ...values) as ChunkCounts;
  }

  /** The amount of text in the libraries, as a model's sets of one chunk size split it. */
  corpus(of: { fingerprint: string; chunkTokens: number }): {
    documents: number;
    chunks: number;
    tokens: number;
  } {
    const query = `SELECT count(*) AS documents, coalesce(sum(k.chunks), 0) AS chunks, coalesce(sum(k.tokens), 0) AS tokens
      FROM chunking k JOIN chunk_set s ON s.id = k.chunk_set_id
      WHERE s.fingerprint = @fingerprint AND s.chunk_tokens = @chunkTokens`;
    return this.#sql.get(query, of) as { documents: number; chunks: number; tokens: number };
  }

  /** Estimated number of chunks of another size, from a model's sets of one chunk size: a short document counts as at least one. */
  chunksOfSize(of: { fingerprint: string; chunkTokens: number }, size: number): number {
    const query = `SELECT coalesce(sum(max(min(k.chunks, 1), round(k.chunks * @chunkTokens * 1.0 / @size))), 0)
      FROM chunking k JOIN chunk_set s ON s.id = k.chunk_set_id
      WHERE s.fingerprint = @fingerprint AND s.chunk_tokens = @chunkTokens`;
    return this.#sql.value<number>(query, { ...of, size }) ?? 0;
  }

  /** Totals over all libraries' chunks for a model and chunk size. */
  cachedBytes(fingerprint: string, chunkTokens: number): number {
    const sql = `SELECT coalesce(sum(cached_bytes), 0) FROM chunking k JOIN chunk_set s ON s.id = k.chunk_set_id
      WHERE s.fingerprint = ? AND s.chunk_tokens = ?`;
    return this.#sql.value<number>(sql, fingerprint, chunkTokens) ?? 0;
  }

  setCached(setId: number, documentId: number, chunks: number, bytes: number): boolean {
    const sql = `UPDATE chunking SET cached_chunks = ?, cached_bytes = ?
      WHERE chunk_set_id = ? AND document_id = ? AND (cached_chunks <> ? OR cached_bytes <> ?)`;
    return this.#sql.run(sql, chunks, bytes, setId, documentId, chunks, bytes) > 0;
  }
}

function toChunk(raw: RawChunkRow): ChunkRow {
  return { ...raw, ...unpacked(raw) };
}

export function unpacked({ tokens, lead }: RawTokens): Pick<ChunkRow, 'tokens' | 'lead'> {
  return { tokens: unpackTokens(tokens), lead: unpackTokens(lead) };
}
