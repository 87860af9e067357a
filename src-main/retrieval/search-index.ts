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
    const query = `SELECT c.id AS chunkId, c.document_id AS documentId, c.ordinal,
        -bm25(${this.#table}, ${TITLE_WEIGHT}, 1.0) AS score
      FROM ${this.#table} f JOIN chunk c ON c.id = f.rowid
      WHERE ${this.#table} MATCH ? ORDER BY score DESC, c.id LIMIT ?`;
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
