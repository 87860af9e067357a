import { prepared, type Database } from '../platform/database.ts';
import { indexedText, matchQuery } from './words.ts';

/** A chunk that shares words with the question. */
export interface Hit {
  chunkId: number;
  documentId: number;
  ordinal: number;
  /** BM25; larger is better. */
  score: number;
}

/** Where to look. */
export interface IndexScope {
  chunkSetIds: readonly number[];
  /** Absent: every document of the sets. */
  documentIds?: readonly number[] | undefined;
}

type Place = Pick<Hit, 'chunkId' | 'documentId' | 'ordinal'>;

/** Weight of a word in the titles above a chunk, beside 1 in its text. */
const TITLE_WEIGHT = 0.8;

/** Shorter titles are everyday words more often than names. */
const MIN_TITLE_LENGTH = 4;

/** Named anew when what is indexed changes, so that an older index is built again. */
const TABLE = 'chunk_words_1';

/**
 * Makes or updates the full-text index over the catalogue's chunks. Every connection that writes chunks must have called
 * this: triggers keep the index equal to the `chunk` table, in the same transactions, with a function that this defines.
 */
export function prepareSearch(database: Database): void {
  if (searched.has(database)) return;
  database.function('kvasir_words', { deterministic: true }, (text: unknown) => indexedText(String(text)));
  const known = (type: string, name: string): boolean =>
    database.prepare('SELECT 1 FROM sqlite_master WHERE type = ? AND name = ?').get(type, name) !== undefined;
  if (!known('table', TABLE) || !known('trigger', `${TABLE}_insert`) || !known('trigger', `${TABLE}_delete`))
    database.transaction(() => {
      dropOlder(database);
      database.exec(SCHEMA);
    })();
  searched.add(database);
}

/** Connections that have the function; to define it again would make SQLite compile every statement anew. */
const searched = new WeakSet<Database>();

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

/** The first versions had an index, a view and triggers for each chunk set. */
function dropOlder(database: Database): void {
  const query = `SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view', 'table')
    AND (name GLOB 'chunk_fts_[0-9]*' OR name GLOB 'chunk_set_[0-9]*' OR name GLOB 'chunk_words_[0-9]*')
    ORDER BY type = 'trigger' DESC, length(name)`;
  for (const { type, name } of database.prepare(query).all() as { type: string; name: string }[])
    database.exec(`DROP ${type.toUpperCase()} IF EXISTS "${name}"`); // a table takes its shadow tables along
}

/**
 * Full-text search (SQLite FTS5, BM25) over some chunk sets. One index holds all sets, so that word statistics, and with them scores, are
 * comparable across libraries.
 */
export class SearchIndex {
  readonly #database: Database;
  readonly #sets: string;
  readonly #documents: string | null;

  constructor(database: Database, scope: number | IndexScope) {
    const { chunkSetIds, documentIds } =
      typeof scope === 'number' ? { chunkSetIds: [scope], documentIds: undefined } : scope;
    if (!chunkSetIds.every(Number.isInteger)) throw new TypeError('chunkSetIds must be integers');
    prepareSearch(database);
    this.#database = database;
    this.#sets = JSON.stringify(chunkSetIds);
    this.#documents = documentIds === undefined ? null : JSON.stringify(documentIds);
  }

  /** The chunks that match best, best first. Any text is a valid question; one without words matches nothing. */
  search(question: string, limit: number): Hit[] {
    const match = matchQuery(question);
    if (match === '') return [];
    const query = `${MATCHES} ORDER BY score DESC, c.id LIMIT @limit`;
    return this.#all(query, { match, limit });
  }

  /** The chunk's neighbours in its document: before and after, where there are any. */
  neighbours(hit: Place): { chunkId: number; ordinal: number }[] {
    return this.#all(`${SIBLINGS} AND c.ordinal IN (@ordinal - 1, @ordinal + 1)`, place(hit));
  }

  /** Up to `count` chunks before one in its document, nearest first. */
  before(hit: Place, count: number): { chunkId: number; ordinal: number }[] {
    const query = `${SIBLINGS} AND c.ordinal < @ordinal ORDER BY c.ordinal DESC LIMIT @count`;
    return this.#all(query, { ...place(hit), count });
  }

  /** The best chunk of one document, or its first one when none matches. */
  bestOf(documentId: number, question: string): Hit | undefined {
    const match = matchQuery(question);
    const query = `${MATCHES} AND c.document_id = @documentId ORDER BY score DESC, c.id LIMIT 1`;
    const [best] = match === '' ? [] : this.#all<Hit>(query, { match, documentId });
    return best ?? this.#firstChunk(documentId);
  }

  /** Other documents in reach whose title stands in a chunk's text, word for word. */
  mentions(hit: Pick<Hit, 'chunkId' | 'documentId'>): number[] {
    const query = `SELECT d.id, d.title, c.text FROM chunk c JOIN document d ON d.id <> c.document_id
      WHERE c.id = @chunkId AND length(d.title) >= ${MIN_TITLE_LENGTH} AND instr(c.text, d.title) > 0
        AND d.library_id = (SELECT library_id FROM document WHERE id = c.document_id)
        AND (@documents IS NULL OR d.id IN (SELECT value FROM json_each(@documents)))`;
    const rows = prepared(this.#database, query).all({
      chunkId: hit.chunkId,
      documents: this.#documents,
    }) as {
      id: number;
      title: string;
      text: string;
    }[];
    return rows.filter(({ title, text }) => standsAlone(title, text)).map(({ id }) => id);
  }

  #firstChunk(documentId: number): Hit | undefined {
    const query = `SELECT c.id AS chunkId, c.document_id AS documentId, c.ordinal, 0 AS score FROM chunk c
      WHERE ${IN_SCOPE} AND c.document_id = @documentId ORDER BY c.ordinal LIMIT 1`;
    return this.#all<Hit>(query, { documentId })[0];
  }

  #all<T>(query: string, parameters: Record<string, unknown>): T[] {
    const all = { sets: this.#sets, documents: this.#documents, ...parameters };
    return prepared(this.#database, query).all(all) as T[];
  }
}

const IN_SCOPE = `c.chunk_set_id IN (SELECT value FROM json_each(@sets))
  AND (@documents IS NULL OR c.document_id IN (SELECT value FROM json_each(@documents)))`;

const MATCHES = `SELECT c.id AS chunkId, c.document_id AS documentId, c.ordinal,
    -bm25(${TABLE}, ${TITLE_WEIGHT}, 1.0) AS score
  FROM ${TABLE} f JOIN chunk c ON c.id = f.rowid WHERE ${TABLE} MATCH @match AND ${IN_SCOPE}`;

const SIBLINGS = `SELECT c.id AS chunkId, c.ordinal FROM chunk c
  WHERE ${IN_SCOPE} AND c.document_id = @documentId`;

function place({ documentId, ordinal }: Place): { documentId: number; ordinal: number } {
  return { documentId, ordinal };
}

/** Whether `title` occurs in `text` with no letter or digit on either side; unspaced scripts have no such borders. */
function standsAlone(title: string, text: string): boolean {
  const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(title);
  for (let at = text.indexOf(title); at >= 0; at = text.indexOf(title, at + 1)) {
    const before = text.slice(Math.max(0, at - 2), at);
    const after = text.slice(at + title.length, at + title.length + 2);
    if (unspaced || (!/[\p{L}\p{N}]$/u.test(before) && !/^[\p{L}\p{N}]/u.test(after))) return true;
  }
  return false;
}
