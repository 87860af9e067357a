import type { Database } from '../platform/database.ts';
import { matchQuery } from './query.ts';

/** A chunk that shares words with the question. */
export interface Hit {
  chunkId: number;
  documentId: number;
  ordinal: number;
  /** BM25; larger is better. */
  score: number;
}

/** Weight of a word in the titles above a chunk, beside 1 in its text. */
const TITLE_WEIGHT = 0.8;

/** Shorter titles are everyday words more often than names. */
const MIN_TITLE_LENGTH = 4;

/**
 * Full-text search (SQLite FTS5, BM25) over one chunk set of the catalogue. Each set has an index of its own, so that
 * word statistics are those of one library. Triggers keep it equal to the `chunk` table, in the same transactions; the
 * text itself is not stored twice.
 */
export class SearchIndex {
  readonly #database: Database;
  readonly #set: number;
  readonly #table: string;

  constructor(database: Database, chunkSetId: number) {
    if (!Number.isInteger(chunkSetId)) throw new TypeError('chunkSetId must be an integer');
    this.#database = database;
    this.#set = chunkSetId;
    this.#table = `chunk_fts_${chunkSetId}`;
    const exists = database
      .prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
      .get(this.#table);
    if (!exists) database.transaction(() => database.exec(this.#schema()))();
  }

  /** The chunks that match best, best first. Any text is a valid question; one without words matches nothing. */
  search(question: string, limit: number): Hit[] {
    const match = matchQuery(question);
    if (match === '') return [];
    const query = `${this.#select} ORDER BY score DESC, c.id LIMIT ?`;
    return this.#database.prepare(query).all(match, limit) as Hit[];
  }

  /** The chunk's neighbours in its document: before and after, where there are any. */
  neighbours(hit: Pick<Hit, 'documentId' | 'ordinal'>): { chunkId: number; ordinal: number }[] {
    const query =
      'SELECT id AS chunkId, ordinal FROM chunk WHERE chunk_set_id = ? AND document_id = ? AND ordinal IN (?, ?)';
    const rows = this.#database
      .prepare(query)
      .all(this.#set, hit.documentId, hit.ordinal - 1, hit.ordinal + 1);
    return rows as { chunkId: number; ordinal: number }[];
  }

  /** Up to `count` chunks before one in its document, nearest first. */
  before(hit: Pick<Hit, 'documentId' | 'ordinal'>, count: number): { chunkId: number; ordinal: number }[] {
    const query = `SELECT id AS chunkId, ordinal FROM chunk
      WHERE chunk_set_id = ? AND document_id = ? AND ordinal < ? ORDER BY ordinal DESC LIMIT ?`;
    const rows = this.#database.prepare(query).all(this.#set, hit.documentId, hit.ordinal, count);
    return rows as { chunkId: number; ordinal: number }[];
  }

  /** The best chunk of one document, or its first one when none matches. */
  bestOf(documentId: number, question: string): Hit | undefined {
    const match = matchQuery(question);
    const query = `${this.#select} AND c.document_id = ? ORDER BY score DESC, c.id LIMIT 1`;
    const best = match === '' ? undefined : this.#database.prepare(query).get(match, documentId);
    return (best ?? this.#firstChunk(documentId)) as Hit | undefined;
  }

  /** Other documents whose title stands in a chunk's text, word for word. */
  mentions(hit: Pick<Hit, 'chunkId' | 'documentId'>): number[] {
    const query = `SELECT d.id, d.title, c.text FROM chunk c JOIN document d ON d.id <> c.document_id
      WHERE c.id = ? AND length(d.title) >= ${MIN_TITLE_LENGTH} AND instr(c.text, d.title) > 0
        AND d.library_id = (SELECT library_id FROM document WHERE id = c.document_id)`;
    const rows = this.#database.prepare(query).all(hit.chunkId) as {
      id: number;
      title: string;
      text: string;
    }[];
    return rows.filter(({ title, text }) => standsAlone(title, text)).map(({ id }) => id);
  }

  #firstChunk(documentId: number): Hit | undefined {
    const query = `SELECT id AS chunkId, document_id AS documentId, ordinal, 0 AS score FROM chunk
      WHERE chunk_set_id = ? AND document_id = ? ORDER BY ordinal LIMIT 1`;
    return this.#database.prepare(query).get(this.#set, documentId) as Hit | undefined;
  }

  get #select(): string {
    return `SELECT c.id AS chunkId, c.document_id AS documentId, c.ordinal,
        -bm25(${this.#table}, ${TITLE_WEIGHT}, 1.0) AS score
      FROM ${this.#table} f JOIN chunk c ON c.id = f.rowid WHERE ${this.#table} MATCH ?`;
  }

  #schema(): string {
    const set = this.#set;
    const fts = this.#table;
    const view = `chunk_set_${set}`;
    return `
      CREATE VIEW ${view} AS SELECT id, title, text FROM chunk WHERE chunk_set_id = ${set};
      CREATE VIRTUAL TABLE ${fts} USING fts5(
        title, text, content='${view}', content_rowid='id', tokenize='porter unicode61 remove_diacritics 2');
      CREATE TRIGGER ${fts}_insert AFTER INSERT ON chunk WHEN new.chunk_set_id = ${set} BEGIN
        INSERT INTO ${fts} (rowid, title, text) VALUES (new.id, new.title, new.text);
      END;
      CREATE TRIGGER ${fts}_delete AFTER DELETE ON chunk WHEN old.chunk_set_id = ${set} BEGIN
        INSERT INTO ${fts} (${fts}, rowid, title, text) VALUES ('delete', old.id, old.title, old.text);
      END;
      INSERT INTO ${fts} (${fts}) VALUES ('rebuild');`;
  }
}

/** Whether `title` occurs in `text` with no letter or digit on either side. */
function standsAlone(title: string, text: string): boolean {
  for (let at = text.indexOf(title); at >= 0; at = text.indexOf(title, at + 1)) {
    const before = text.slice(Math.max(0, at - 2), at);
    const after = text.slice(at + title.length, at + title.length + 2);
    if (!/[\p{L}\p{N}]$/u.test(before) && !/^[\p{L}\p{N}]/u.test(after)) return true;
  }
  return false;
}
