import { createHash } from 'node:crypto';
import type { Database } from '../platform/database.ts';
import { IN_SCOPE, type BoundScope, type ChunkPlace, type ChunkText, type Hit } from './search-scope.ts';
import { MAX_POSTINGS, WordCounts } from './word-counts.ts';
import { TABLE } from './word-index.ts';
import { ftsTerm, wordsOf, type Term } from './words.ts';

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

/** The id from which on as many chunks match, and their number. */
const NEWEST = `SELECT min(id) AS first, count(*) AS chunks FROM (
  SELECT c.id FROM ${TABLE} f CROSS JOIN chunk c INDEXED BY chunk_place ON c.id = f.rowid
  WHERE ${TABLE} MATCH @match AND ${IN_SCOPE} ORDER BY f.rowid DESC LIMIT ${MAX_POSTINGS})`;

/** Of the scattered order; any string would do. */
const SEED = 'kvasir';

/** A search in FTS5's syntax, and the part of the index that it reads. */
export interface WordQuery {
  match: string;
  /** Id of the first chunk read. */
  from: number;
  /** Where the terms are very common: the number of newest chunks read; null: all are. */
  newest: number | null;
}

/** Reads of the full-text index (WordIndex) and of the chunks around what it finds. */
export class WordTable {
  /** Which of a question's words to search. */
  readonly counts: WordCounts;
  readonly #sql: Database;

  constructor(sql: Database) {
    this.#sql = sql;
    this.counts = new WordCounts(sql);
  }

  /** What a search for any of these terms reads. */
  query(terms: readonly Term[], scope: BoundScope): WordQuery {
    const telling = this.counts.telling(terms);
    const match = telling.map(ftsTerm).join(' OR ');
    if (match === '') return { match, from: 0, newest: null };
    const places = telling.reduce(
      (sum, term) => sum + (term.prefix === true ? Infinity : this.counts.count(term)),
      0,
    );
    if (places <= MAX_POSTINGS) return { match, from: 0, newest: null };
    type Row = { first: number | null; chunks: number };
    const { first, chunks } = this.#sql.get<Row>(NEWEST, { match, ...scope }) ?? { first: 0, chunks: 0 };
    return { match, from: first ?? 0, newest: chunks < MAX_POSTINGS ? null : chunks };
  }

  /** The chunks that match a query best, best first. */
  matches({ match, from }: WordQuery, scope: BoundScope, limit: number): Hit[] {
    if (match === '') return [];
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

  /** A document's first chunk. */
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

  /** The ids of a set's chunks by a hash of their texts: an order that is the same each time, and scatters neighbours. */
  scattered(chunkSetId: number): number[] {
    const query = 'SELECT id, text FROM chunk WHERE chunk_set_id = ? ORDER BY id';
    const ranked = Array.from(this.#sql.iterate<{ id: number; text: string }>(query, chunkSetId), (row) => {
      return { id: row.id, rank: createHash('sha256').update(`${SEED}\n${row.text}`).digest('hex') };
    });
    return ranked.sort((a, b) => Number(a.rank > b.rank) - Number(a.rank < b.rank)).map(({ id }) => id);
  }

  /** The texts of chunks, and the titles above them, by id. */
  texts(chunkIds: readonly number[]): Map<number, ChunkText> {
    const query = 'SELECT id, title, text FROM chunk WHERE id IN (SELECT value FROM json_each(?))';
    const rows = this.#sql.all<ChunkText & { id: number }>(query, JSON.stringify(chunkIds));
    return new Map(rows.map(({ id, title, text }) => [id, { title, text }]));
  }
}
