import type { Database } from '../platform/database.ts';
import { languageOf, type Language } from './language.ts';
import { editDistance, editsAllowed, mayBeMisspelt } from './edit-distance.ts';
import {
  ftsTerm,
  indexedText,
  titleWord,
  withoutMarks,
  wordsOf,
  type Term,
  type WordTerms,
} from './words.ts';

export interface ChunkPlace {
  chunkId: number;
  documentId: number;
  ordinal: number;
}

export interface ChunkText {
  /** The document's title and the headings above the chunk. */
  title: string;
  text: string;
}

/** A chunk that matches a question. */
export interface Hit extends ChunkPlace {
  /** Larger is better. */
  score: number;
}

/** The chunk sets and documents to search. */
export interface SearchScope {
  chunkSetIds: readonly number[];
  /** Absent: every document of the sets. */
  documentIds?: readonly number[] | undefined;
  /** Documents whose chunks are taken from another set, with that set: they have no chunks in these yet. */
  standIns?: ReadonlyMap<number, number> | undefined;
}

/** A scope in the form that queries bind. */
export interface BoundScope {
  /** JSON: ids of chunk sets. */
  sets: string;
  /** JSON: ids of documents; null for all. */
  documents: string | null;
  /** JSON: pairs of a document's id and the id of the set used instead. */
  standIns: string;
}

export function boundScope({ chunkSetIds, documentIds, standIns }: SearchScope): BoundScope {
  if (!chunkSetIds.every(Number.isInteger)) throw new TypeError('chunkSetIds must be integers');
  return {
    sets: JSON.stringify(chunkSetIds),
    documents: documentIds ? JSON.stringify(documentIds) : null,
    standIns: JSON.stringify([...(standIns ?? [])]),
  };
}

/** Of a chunk `c`. */
const IN_SCOPE = `(c.chunk_set_id IN (SELECT value FROM json_each(@sets))
      AND c.document_id NOT IN (SELECT value ->> 0 FROM json_each(@standIns))
    OR (c.document_id, c.chunk_set_id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(@standIns)))
  AND (@documents IS NULL OR c.document_id IN (SELECT value FROM json_each(@documents)))`;

/** Renamed whenever the indexed text changes, so that an older index is rebuilt. */
const TABLE = 'chunk_words_2';

/** Weight of a word in the titles above a chunk, relative to 1 in its text. */
const TITLE_WEIGHT = 0.8;

/**
 * The position of a match is read from an index with nothing else in it: a common word matches most chunks, and their rows hold texts and
 * tokens.
 */
const MATCHES = `SELECT c.id AS chunkId, c.document_id AS documentId, c.ordinal,
    -bm25(${TABLE}, ${TITLE_WEIGHT}, 1.0) AS score
  FROM ${TABLE} f CROSS JOIN chunk c INDEXED BY chunk_place ON c.id = f.rowid WHERE ${TABLE} MATCH @match
    AND f.rowid >= @from AND ${IN_SCOPE}
  ORDER BY score DESC, c.id LIMIT @limit`;

/** Chunks `c` of the same document and the same set as a chunk. */
const IN_SAME_CUT = `c.chunk_set_id = (SELECT chunk_set_id FROM chunk WHERE id = @chunkId)
  AND c.document_id = @documentId`;

/** The index holds words only; texts stay in `chunk`, and can be deleted without supplying the text. */
const SCHEMA = `
  CREATE VIRTUAL TABLE ${TABLE} USING fts5(
    title, text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
  CREATE VIRTUAL TABLE ${TABLE}_counts USING fts5vocab(${TABLE}, row);
  CREATE TABLE ${TABLE}_languages (language TEXT PRIMARY KEY, chunks INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TRIGGER ${TABLE}_insert AFTER INSERT ON chunk BEGIN
    INSERT INTO ${TABLE}_languages VALUES (kvasir_language(new.text), 1) ON CONFLICT DO UPDATE SET chunks = chunks + 1;
    INSERT INTO ${TABLE} (rowid, title, text) VALUES (new.id,
      kvasir_words(new.title, kvasir_language(new.text)), kvasir_words(new.text, kvasir_language(new.text)));
  END;
  CREATE TRIGGER ${TABLE}_delete AFTER DELETE ON chunk BEGIN
    DELETE FROM ${TABLE} WHERE rowid = old.id;
    UPDATE ${TABLE}_languages SET chunks = chunks - 1 WHERE language = kvasir_language(old.text);
  END;
  CREATE TABLE ${TABLE}_titles (
    document_id INTEGER PRIMARY KEY, library_id INTEGER NOT NULL, word TEXT NOT NULL) STRICT;
  CREATE INDEX ${TABLE}_title_words ON ${TABLE}_titles(library_id, word);
  CREATE TRIGGER ${TABLE}_title_insert AFTER INSERT ON document BEGIN
    INSERT INTO ${TABLE}_titles VALUES (new.id, new.library_id, kvasir_title_word(new.title));
  END;
  CREATE TRIGGER ${TABLE}_title_update AFTER UPDATE OF title, library_id ON document BEGIN
    INSERT OR REPLACE INTO ${TABLE}_titles VALUES (new.id, new.library_id, kvasir_title_word(new.title));
  END;
  CREATE TRIGGER ${TABLE}_title_delete AFTER DELETE ON document BEGIN
    DELETE FROM ${TABLE}_titles WHERE document_id = old.id;
  END;
  INSERT INTO ${TABLE}_titles SELECT id, library_id, kvasir_title_word(title) FROM document;
  CREATE INDEX IF NOT EXISTS chunk_place ON chunk(id, chunk_set_id, document_id, ordinal);
  INSERT INTO ${TABLE}_languages SELECT kvasir_language(text), count(*) FROM chunk GROUP BY 1;
  INSERT INTO ${TABLE} (rowid, title, text)
    SELECT id, kvasir_words(title, kvasir_language(text)), kvasir_words(text, kvasir_language(text)) FROM chunk;`;

/**
 * FTS5's merge settings. It merges a segment once half of it has been deleted; at a tenth, its default, deleting takes the index six times
 * as long. A merge runs for 64 pages at a stretch: small pages make stretches short.
 */
const TIDYING = { deletemerge: 50, pgsz: 1000 };

/** One chunk in this many may be assigned to the wrong language. */
const STRAY = 100;

/**
 * In an index with more chunks than this, words that occur in at least this share of them are not searched next to others: they carry no
 * information.
 */
const LARGE = 1000;
const COMMON_SHARE = 0.3;
/**
 * The search uses the rarest words, up to this number of matching chunks in total: its time grows with the number of positions of its
 * words.
 */
const MAX_POSTINGS = 20_000;
/** Chunks that contain a word, by id, and the last of them: as many as tell that there are too many. */
const COUNT = `SELECT count(*) AS chunks, max(rowid) AS last FROM (
  SELECT rowid FROM ${TABLE} WHERE ${TABLE} MATCH ? ORDER BY rowid LIMIT ${MAX_POSTINGS + 1})`;
/** The id from which on as many chunks match. */
const NEWEST = `SELECT min(id) FROM (
  SELECT c.id FROM ${TABLE} f CROSS JOIN chunk c INDEXED BY chunk_place ON c.id = f.rowid
  WHERE ${TABLE} MATCH @match AND ${IN_SCOPE} ORDER BY f.rowid DESC LIMIT ${MAX_POSTINGS})`;
/** Words whose counts are kept until the index changes. */
const COUNTS_KEPT = 1000;
/** Relative to the rarest word's weight (its inverse document frequency): words of that weight are rare, too. */
const RARE = 0.6;
/** Maximum number of words of a question that are weighed. */
const MAX_WORDS = 64;
/** More words than this, taking the rarest, do not improve a search. */
const MAX_TERMS = 24;
/** Words searched in place of one that no chunk contains. */
const MAX_SIMILAR = 3;
/** Sorts after every letter. */
const LAST_CHARACTER = '\u{10ffff}';

/**
 * The full-text index (SQLite FTS5, BM25) over all chunks. One index holds all sets, so that word statistics, and with them scores, are
 * comparable across libraries. Triggers keep it equal to the `chunk` table, in the same transactions, with a function that this class
 * defines; an older index is rebuilt.
 */
export class WordTable {
  readonly #sql: Database;
  readonly #counts = new Map<string, number>();
  /** Changes to the database before they were counted. */
  #countedAt = 0;

  constructor(sql: Database) {
    this.#sql = sql;
    sql.define('kvasir_words', (text = '', language = 'en') => indexedText(text, language as Language));
    sql.define('kvasir_title_word', (title = '') => titleWord(title));
    sql.define('kvasir_language', rememberingLast(languageOf));
    const known = 'SELECT count(*) FROM sqlite_master WHERE name IN (?, ?, ?)';
    if (sql.value<number>(known, TABLE, `${TABLE}_insert`, `${TABLE}_delete`) !== 3)
      sql.transaction(() => {
        this.#dropOlder();
        sql.exec(SCHEMA);
      });
    for (const [name, value] of Object.entries(TIDYING)) this.#configure(name, value);
  }

  /** The value is stored in the database, so most starts have nothing to write. */
  #configure(name: string, value: number): void {
    if (this.#sql.value(`SELECT v FROM ${TABLE}_config WHERE k = ?`, name) === value) return;
    this.#sql.run(`INSERT INTO ${TABLE} (${TABLE}, rank) VALUES (?, CAST(? AS INTEGER))`, name, value);
  }

  /** As Database.purgeWords: removes the words of deleted chunks from the index. */
  purge(): Generator<void> {
    return this.#sql.purgeWords(TABLE);
  }

  /** The languages of more than a few stray texts. */
  languages(): Language[] {
    const query = `SELECT language FROM ${TABLE}_languages
      WHERE chunks > 0 AND chunks * ${STRAY} >= (SELECT sum(chunks) FROM ${TABLE}_languages)`;
    return this.#sql.column(query);
  }

  #chunks(): number {
    return this.#sql.value<number>(`SELECT coalesce(sum(chunks), 0) FROM ${TABLE}_languages`) ?? 0;
  }

  /** The chunks that contain any of these terms and match best, best first; of those with very common terms alone the newest are read. */
  matches(terms: readonly Term[], scope: BoundScope, limit: number): Hit[] {
    const telling = this.#telling(terms);
    const match = telling.map(ftsTerm).join(' OR ');
    if (match === '') return [];
    const places = telling.reduce(
      (sum, term) => sum + (term.prefix === true ? Infinity : this.#count(term)),
      0,
    );
    const from = places > MAX_POSTINGS ? (this.#sql.value<number>(NEWEST, { match, ...scope }) ?? 0) : 0;
    const hits: Hit[] = this.#sql.all(MATCHES, { match, from, ...scope, limit });
    const tied = hits.filter(({ score }, i) => score === hits[i - 1]?.score || score === hits[i + 1]?.score);
    if (tied.length === 0) return hits;
    // Ties are broken by content: ids only tell which file was read first.
    const texts = this.texts(tied.map(({ chunkId }) => chunkId));
    const textOf = ({ chunkId }: Hit): string => texts.get(chunkId)?.text ?? '';
    return hits.sort(
      (a, b) => b.score - a.score || Number(textOf(a) > textOf(b)) - Number(textOf(a) < textOf(b)),
    );
  }

  /** The most significant words for a search: those in the fewest chunks, of those that occur in any. */
  rarest(words: readonly WordTerms[]): Term[][] {
    const chunks = this.#chunks();
    const weighed = words
      .slice(0, MAX_WORDS)
      .map(({ terms }) => ({ terms, count: terms.reduce((sum, term) => sum + this.#count(term), 0) }))
      .filter(({ count }) => count > 0)
      .map(({ terms, count }) => ({ terms, weight: Math.log(1 + chunks / count) }));
    const most = Math.max(...weighed.map(({ weight }) => weight));
    return weighed.filter(({ weight }) => weight >= most * RARE).map(({ terms }) => terms);
  }

  /** For words that no chunk contains, the indexed words that differ by a letter or two. */
  similar(words: readonly WordTerms[]): { word: string; terms: Term[] }[] {
    return words.slice(0, MAX_WORDS).flatMap(({ word, terms }) => {
      if (!mayBeMisspelt(word) || terms.some((term) => this.#count(term) > 0)) return [];
      const near = new Set(terms.flatMap(({ text }) => this.#similarTo(withoutMarks(text))));
      return near.size > 0 ? [{ word, terms: [...near].map((text) => ({ text })) }] : [];
    });
  }

  /** The nearest words with the same first letter; of equally near ones those in the most chunks. */
  #similarTo(stem: string): string[] {
    const most = editsAllowed(stem);
    const query = `SELECT term, doc FROM ${TABLE}_counts WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?`;
    const [first = ''] = stem;
    const range = [first, first + LAST_CHARACTER, stem.length - most, stem.length + most];
    const rows = this.#sql.all<{ term: string; doc: number }>(query, ...range);
    const near = rows
      .map((row) => ({ ...row, edits: editDistance(stem, row.term, most) }))
      .filter(({ edits }) => edits <= most)
      .sort((a, b) => a.edits - b.edits || b.doc - a.doc);
    return near
      .filter(({ edits }) => edits === near[0]?.edits)
      .slice(0, MAX_SIMILAR)
      .map(({ term }) => term);
  }

  /** In how many chunks a term occurs. Above MAX_POSTINGS it is estimated from the first ones: counting reads every place. */
  #count({ text }: Term): number {
    const changes = this.#sql.value<number>('SELECT total_changes()') ?? 0;
    if (changes !== this.#countedAt || this.#counts.size > COUNTS_KEPT) this.#counts.clear();
    this.#countedAt = changes;
    const known = this.#counts.get(text);
    if (known !== undefined) return known;
    const count = this.#counted(text);
    this.#counts.set(text, count);
    return count;
  }

  #counted(text: string): number {
    type Row = { chunks: number; last: number };
    const { chunks, last } = this.#sql.get<Row>(COUNT, ftsTerm({ text })) ?? { chunks: 0, last: 0 };
    if (chunks <= MAX_POSTINGS) return chunks;
    const [first, newest] = ['min', 'max'].map(
      (end) => this.#sql.value<number>(`SELECT ${end}(id) FROM chunk`) ?? 0,
    );
    const share = ((newest ?? 0) - (first ?? 0) + 1) / (last - (first ?? 0) + 1);
    return Math.min(this.#chunks(), Math.round(chunks * share));
  }

  /** Which of these chunks contain any of the terms. */
  holding(terms: readonly Term[], chunkIds: readonly number[]): Set<number> {
    const query = `SELECT rowid FROM ${TABLE} WHERE ${TABLE} MATCH ? AND rowid IN (SELECT value FROM json_each(?))`;
    return new Set(
      this.#sql.column<number>(query, terms.map(ftsTerm).join(' OR '), JSON.stringify(chunkIds)),
    );
  }

  hasChunk(documentId: number, ordinal: number, scope: BoundScope): boolean {
    const query = `SELECT 1 FROM chunk c WHERE ${IN_SCOPE} AND c.document_id = @documentId AND c.ordinal = @ordinal`;
    return this.#sql.get(query, { ...scope, documentId, ordinal }) !== undefined;
  }

  /** The terms worth searching for. */
  #telling(terms: readonly Term[]): readonly Term[] {
    const chunks = this.#chunks();
    if (terms.length <= MAX_TERMS && chunks <= LARGE) return terms;
    const counted = terms
      .map((term) => ({ term, count: this.#count(term) }))
      .filter(({ term, count }) => count > 0 || term.prefix === true)
      .sort((a, b) => a.count - b.count);
    let postings = 0;
    const rare = counted.filter(
      ({ count }) => count <= chunks * COMMON_SHARE && (postings += count) <= MAX_POSTINGS,
    );
    return (rare.length > 0 ? rare : counted.slice(0, 1)).slice(0, MAX_TERMS).map(({ term }) => term);
  }

  firstOf(documentId: number, scope: BoundScope): ChunkPlace | undefined {
    const first = `SELECT c.id AS chunkId, c.document_id AS documentId, min(c.ordinal) AS ordinal FROM chunk c
      WHERE c.chunk_set_id IN (SELECT value FROM json_each(@sets)
          UNION ALL SELECT value ->> 1 FROM json_each(@standIns) WHERE value ->> 0 = @documentId)
        AND (@documents IS NULL OR c.document_id IN (SELECT value FROM json_each(@documents)))
        AND c.document_id = @documentId GROUP BY c.document_id`;
    return this.#sql.get(first, { ...scope, documentId });
  }

  /** The chunks up to `reach` positions before and after one, in its document and under the same headings. */
  neighbours({ chunkId, documentId, ordinal }: ChunkPlace, reach: number): Omit<ChunkPlace, 'documentId'>[] {
    const query = `SELECT c.id AS chunkId, c.ordinal FROM chunk c WHERE ${IN_SAME_CUT}
      AND c.ordinal BETWEEN @ordinal - @reach AND @ordinal + @reach AND c.ordinal <> @ordinal
      AND c.title = (SELECT title FROM chunk WHERE id = @chunkId)`;
    type Row = Omit<ChunkPlace, 'documentId'>;
    const rows = this.#sql.all<Row>(query, { chunkId, documentId, ordinal, reach });
    return rows.sort((a, b) => a.ordinal - b.ordinal); // SQLite takes ten times as long just to prepare the query
  }

  /** Up to `count` chunks before one under the same headings, nearest first, until they have this many characters in total. */
  before(
    { chunkId, documentId, ordinal }: ChunkPlace,
    count: number,
    characters: number,
  ): Omit<ChunkPlace, 'documentId'>[] {
    const query = `SELECT c.id AS chunkId, c.ordinal, length(c.text) AS size FROM chunk c
      WHERE ${IN_SAME_CUT} AND c.ordinal BETWEEN @ordinal - @count AND @ordinal
        AND c.title = (SELECT title FROM chunk WHERE id = @chunkId)`;
    type Row = { chunkId: number; ordinal: number; size: number };
    const rows = this.#sql.all<Row>(query, { chunkId, documentId, ordinal, count });
    rows.sort((a, b) => b.ordinal - a.ordinal);
    let missing = characters;
    return rows.filter(({ size }) => (missing -= size) + size > 0).slice(1);
  }

  /** Other documents of a chunk's library whose title, unique and at least `minLength` long, may occur in its text. */
  titlesIn(
    chunkId: number,
    { documents }: BoundScope,
    minLength: number,
  ): { text: string; titles: { id: number; title: string }[] } {
    const chunk =
      'SELECT c.text, c.document_id AS id, d.library_id AS library FROM chunk c JOIN document d ON d.id = c.document_id';
    type Row = { text: string; id: number; library: number };
    const row = this.#sql.get<Row>(`${chunk} WHERE c.id = ?`, chunkId);
    if (!row) return { text: '', titles: [] };
    const query = `SELECT min(d.id) AS id, d.title FROM ${TABLE}_titles t JOIN document d ON d.id = t.document_id
      WHERE t.library_id = @library AND t.word IN (SELECT value FROM json_each(@words)) AND length(d.title) >= @minLength
        AND (@documents IS NULL OR d.id IN (SELECT value FROM json_each(@documents)))
      GROUP BY d.title HAVING count(*) = 1 AND d.id <> @id ORDER BY d.title`;
    const words = JSON.stringify(wordsOf(row.text));
    return {
      text: row.text,
      titles: this.#sql.all(query, { words, library: row.library, id: row.id, documents, minLength }),
    };
  }

  /** The texts of chunks, and the titles above them, by id. */
  texts(chunkIds: readonly number[]): Map<number, ChunkText> {
    const query = 'SELECT id, title, text FROM chunk WHERE id IN (SELECT value FROM json_each(?))';
    const rows = this.#sql.all<ChunkText & { id: number }>(query, JSON.stringify(chunkIds));
    return new Map(rows.map(({ id, title, text }) => [id, { title, text }]));
  }

  /** The first versions had an index, a view and triggers for each chunk set. */
  #dropOlder(): void {
    const query = `SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view', 'table')
      AND (name GLOB 'chunk_fts_[0-9]*' OR name GLOB 'chunk_set_[0-9]*' OR name GLOB 'chunk_words_[0-9]*')
      ORDER BY type = 'trigger' DESC, length(name)`;
    for (const { type, name } of this.#sql.all<{ type: string; name: string }>(query))
      this.#sql.exec(`DROP ${type.toUpperCase()} IF EXISTS "${name}"`); // dropping a table drops its shadow tables, too
  }
}

/** Memoises the last call: consecutive calls are for the same text. */
function rememberingLast<T>(work: (text: string) => T): (text?: string) => T {
  let last: { text: string; result: T } | undefined;
  return (text = '') => {
    if (last?.text !== text) last = { text, result: work(text) };
    return last.result;
  };
}
