import type { Database } from '../platform/database.ts';
import { compareWords, editsAllowed, mayBeMisspelt } from './edit-distance.ts';
import type { Language } from './language.ts';
import { TABLE } from './word-index.ts';
import { ftsTerm, withoutMarks, type Term, type WordTerms } from './words.ts';

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
export const MAX_POSTINGS = 20_000;
/** Chunks that contain a word, by id, and the last of them: as many as tell that there are too many. */
const COUNT = `SELECT count(*) AS chunks, max(rowid) AS last FROM (
  SELECT rowid FROM ${TABLE} WHERE ${TABLE} MATCH ? ORDER BY rowid LIMIT ${MAX_POSTINGS + 1})`;
const VERSION = "SELECT total_changes() || '.' || data_version FROM pragma_data_version";
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

/** How common the indexed words are, and which of a question's words a search uses. */
export class WordCounts {
  readonly #sql: Database;
  readonly #counts = new Map<string, number>();
  /** Of the database when they were counted. */
  #countedAt = '';

  constructor(sql: Database) {
    this.#sql = sql;
  }

  /** Another text after each change of the database, by this connection or another. */
  version(): string {
    return this.#sql.value<string>(VERSION) ?? '';
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

  /** The terms worth searching for. */
  telling(terms: readonly Term[]): readonly Term[] {
    const chunks = this.#chunks();
    if (terms.length <= MAX_TERMS && chunks <= LARGE) return terms;
    const counted = terms
      .map((term) => ({ term, count: this.count(term) }))
      .filter(({ term, count }) => count > 0 || term.prefix === true)
      .sort((a, b) => a.count - b.count);
    let postings = 0;
    const rare = counted.filter(
      ({ count }) => count <= chunks * COMMON_SHARE && (postings += count) <= MAX_POSTINGS,
    );
    return (rare.length > 0 ? rare : counted.slice(0, 1)).slice(0, MAX_TERMS).map(({ term }) => term);
  }

  /** The most significant words for a search: those in the fewest chunks, of those that occur in any. */
  rarest(words: readonly WordTerms[]): Term[][] {
    const chunks = this.#chunks();
    const weighed = words
      .slice(0, MAX_WORDS)
      .map(({ terms }) => ({ terms, count: terms.reduce((sum, term) => sum + this.count(term), 0) }))
      .filter(({ count }) => count > 0)
      .map(({ terms, count }) => ({ terms, weight: Math.log(1 + chunks / count) }));
    const most = Math.max(...weighed.map(({ weight }) => weight));
    return weighed.filter(({ weight }) => weight >= most * RARE).map(({ terms }) => terms);
  }

  /** For words that no chunk contains, the indexed words that differ by a letter or two. */
  similar(words: readonly WordTerms[]): { word: string; terms: Term[] }[] {
    return words.slice(0, MAX_WORDS).flatMap(({ word, terms }) => {
      if (!mayBeMisspelt(word) || terms.some((term) => this.count(term) > 0)) return [];
      const near = new Set(terms.flatMap(({ text }) => this.#similarTo(withoutMarks(text))));
      return near.size > 0 ? [{ word, terms: [...near].map((text) => ({ text })) }] : [];
    });
  }

  /** The nearest words with the same first letter; of equally near ones those in the most chunks. */
  #similarTo(stem: string): string[] {
    const most = editsAllowed(stem);
    const [first = ''] = stem;
    const near: { term: string; edits: number }[] = [];
    // Seeks the next term that can be near, past all that begin as a term that cannot.
    for (let term = this.#termAfter(first); term?.startsWith(first) === true;) {
      const { edits, decidedBy } = compareWords(stem, term, most);
      if (edits <= most) near.push({ term, edits });
      term = this.#termAfter(decidedBy === term ? term : decidedBy + LAST_CHARACTER);
    }
    const least = Math.min(...near.map(({ edits }) => edits));
    return near
      .filter(({ edits }) => edits === least)
      .map(({ term }) => ({ term, count: this.count({ text: term }) }))
      .sort((x, y) => y.count - x.count)
      .slice(0, MAX_SIMILAR)
      .map(({ term }) => term);
  }

  #termAfter(text: string): string | undefined {
    return this.#sql.value<string>(
      `SELECT term FROM ${TABLE}_terms WHERE term > ? ORDER BY term LIMIT 1`,
      text,
    );
  }

  /** In how many chunks a term occurs. Above MAX_POSTINGS it is estimated from the first ones: counting reads every place. */
  count({ text }: Term): number {
    const version = this.version();
    if (version !== this.#countedAt || this.#counts.size > COUNTS_KEPT) this.#counts.clear();
    this.#countedAt = version;
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
}
