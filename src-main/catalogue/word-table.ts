import type { Database } from '../platform/database.ts';
import { indexedText } from './words.ts';

/** Where a chunk stands. */
export interface ChunkPlace {
  chunkId: number;
  documentId: number;
  ordinal: number;
}

/** A chunk that matches a question. */
export interface Hit extends ChunkPlace {
  /** Larger is better. */
  score: number;
}

/** Where to look. */
export interface SearchScope {
  chunkSetIds: readonly number[];
  /** Absent: every document of the sets. */
  documentIds?: readonly number[] | undefined;
}

/** A scope as queries get it. */
export interface BoundScope {
  /** JSON: ids of chunk sets. */
  sets: string;
  /** JSON: ids of documents; null for all. */
  documents: string | null;
}

/** What IN_SCOPE needs of a scope. */
export function boundScope({ chunkSetIds, documentIds }: SearchScope): BoundScope {
  if (!chunkSetIds.every(Number.isInteger)) throw new TypeError('chunkSetIds must be integers');
  return { sets: JSON.stringify(chunkSetIds), documents: documentIds ? JSON.stringify(documentIds) : null };
}

/** Of a chunk `c`. */
export const IN_SCOPE = `c.chunk_set_id IN (SELECT value FROM json_each(@sets))
  AND (@documents IS NULL OR c.document_id IN (SELECT value FROM json_each(@documents)))`;

/** Named anew when what is indexed changes, so that an older index is built again. */
const TABLE = 'chunk_words_1';

/** Weight of a word in the titles above a chunk, beside 1 in its text. */
const TITLE_WEIGHT = 0.8;

const MATCHES = `SELECT c.id AS chunkId, c.document_id AS documentId, c.ordinal,
    -bm25(${TABLE}, ${TITLE_WEIGHT}, 1.0) AS score
  FROM ${TABLE} f JOIN chunk c ON c.id = f.rowid WHERE ${TABLE} MATCH @match AND ${IN_SCOPE}`;

/** Equal scores go by content: ids tell only which file was read first. A beginning is enough, and sorted faster than a text. */
const BEST_FIRST = `ORDER BY score DESC, substr(c.text, 1, 200), length(c.text), c.title, c.ordinal, c.id`;

const SIBLINGS = `SELECT c.id AS chunkId, c.ordinal FROM chunk c
  WHERE ${IN_SCOPE} AND c.document_id = @documentId`;

/** The index holds words only; texts stay in `chunk`, and can be deleted without saying what they were. */
const SCHEMA = `
  CREATE VIRTUAL TABLE ${TABLE} USING fts5(
    title, text, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');
  CREATE TRIGGER ${TABLE}_insert AFTER INSERT ON chunk BEGIN
    INSERT INTO ${TABLE} (rowid, title, text) VALUES (new.id, kvasir_words(new.title), kvasir_words(new.text));
  END;
  CREATE TRIGGER ${TABLE}_delete AFTER DELETE ON chunk BEGIN
    DELETE FROM ${TABLE} WHERE rowid = old.id;
  END;
  INSERT INTO ${TABLE} (rowid, title, text) SELECT id, kvasir_words(title), kvasir_words(text) FROM chunk;`;

/**
 * The full-text index (SQLite FTS5, BM25) over all chunks. One index holds all sets, so that word statistics, and with them
 * scores, are comparable across libraries. Triggers keep it equal to the `chunk` table, in the same transactions, with a
 * function that this defines; an older index is built anew.
 */
export class WordTable {
  readonly #sql: Database;

  constructor(sql: Database) {
    this.#sql = sql;
    sql.define('kvasir_words', indexedText);
    const known = 'SELECT count(*) FROM sqlite_master WHERE name IN (?, ?, ?)';
    if (sql.value<number>(known, TABLE, `${TABLE}_insert`, `${TABLE}_delete`) === 3) return;
    sql.transaction(() => {
      this.#dropOlder();
      sql.exec(SCHEMA);
    });
  }

  /** The chunks that match an FTS5 query best, best first. */
  matches(match: string, scope: BoundScope, limit: number): Hit[] {
    return this.#sql.all(`${MATCHES} ${BEST_FIRST} LIMIT @limit`, { match, ...scope, limit });
  }

  /** The best match in one document. */
  bestOf(documentId: number, match: string, scope: BoundScope): Hit | undefined {
    const query = `${MATCHES} AND c.document_id = @documentId ${BEST_FIRST} LIMIT 1`;
    return this.#sql.get(query, { match, ...scope, documentId });
  }

  /** A document's first chunk. */
  firstOf(documentId: number, scope: BoundScope): ChunkPlace | undefined {
    const query = `SELECT c.id AS chunkId, c.document_id AS documentId, c.ordinal FROM chunk c
      WHERE ${IN_SCOPE} AND c.document_id = @documentId ORDER BY c.ordinal LIMIT 1`;
    return this.#sql.get(query, { ...scope, documentId });
  }

  /** The chunks right before and behind one, where there are any. */
  neighbours({ documentId, ordinal }: ChunkPlace, scope: BoundScope): Omit<ChunkPlace, 'documentId'>[] {
    const query = `${SIBLINGS} AND c.ordinal IN (@ordinal - 1, @ordinal + 1) ORDER BY c.ordinal`;
    return this.#sql.all(query, { ...scope, documentId, ordinal });
  }

  /** Up to `count` chunks before one in its document, nearest first. */
  before(
    { documentId, ordinal }: ChunkPlace,
    scope: BoundScope,
    count: number,
  ): Omit<ChunkPlace, 'documentId'>[] {
    const query = `${SIBLINGS} AND c.ordinal < @ordinal ORDER BY c.ordinal DESC LIMIT @count`;
    return this.#sql.all(query, { ...scope, documentId, ordinal, count });
  }

  /** Other documents of a chunk's library whose title, of `minLength` or more, is a part of its text. */
  titlesIn(
    chunkId: number,
    { documents }: BoundScope,
    minLength: number,
  ): { id: number; title: string; text: string }[] {
    const query = `SELECT d.id, d.title, c.text FROM chunk c JOIN document d ON d.id <> c.document_id
      WHERE c.id = @chunkId AND length(d.title) >= @minLength AND instr(c.text, d.title) > 0
        AND d.library_id = (SELECT library_id FROM document WHERE id = c.document_id)
        AND (@documents IS NULL OR d.id IN (SELECT value FROM json_each(@documents)))
      ORDER BY d.title, d.id`;
    return this.#sql.all(query, { chunkId, documents, minLength });
  }

  /** The first versions had an index, a view and triggers for each chunk set. */
  #dropOlder(): void {
    const query = `SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view', 'table')
      AND (name GLOB 'chunk_fts_[0-9]*' OR name GLOB 'chunk_set_[0-9]*' OR name GLOB 'chunk_words_[0-9]*')
      ORDER BY type = 'trigger' DESC, length(name)`;
    for (const { type, name } of this.#sql.all<{ type: string; name: string }>(query))
      this.#sql.exec(`DROP ${type.toUpperCase()} IF EXISTS "${name}"`); // a table takes its shadow tables along
  }
}
