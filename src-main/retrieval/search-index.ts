import { boundScope, type BoundScope, type Hit, type SearchScope } from '../catalogue/search-scope.ts';
import type { ChunkPlace, ChunkText } from '../catalogue/search-scope.ts';
import type { WordQuery, WordTable } from '../catalogue/word-table.ts';
import { termsFor, termsByWord, type WordTerms } from '../catalogue/words.ts';
import { WordOrder } from './word-order.ts';

/** Shorter titles are more often everyday words than names. */
const MIN_TITLE_LENGTH = 4;

/** Documents of at least this many chunks may begin with a title page in a separate chunk. */
const LONG = 5;

/** The best matches by BM25, whose texts are then read to score the order of a question's words. */
const READ = 100;

interface QuestionTerms {
  question: string;
  byWord: readonly WordTerms[];
  misspelt: readonly WordTerms[];
  query: WordQuery;
}

/** Full-text search over some chunk sets, and the surroundings of the chunks it finds. */
export class SearchIndex {
  readonly #words: WordTable;
  readonly #scope: BoundScope;
  #last: QuestionTerms | undefined;

  constructor(words: WordTable, scope: number | SearchScope) {
    this.#words = words;
    this.#scope = boundScope(typeof scope === 'number' ? { chunkSetIds: [scope] } : scope);
  }

  /**
   * The best-matching chunks, best first: by BM25, with the best of these rescored by the order of the question's words. Any text is a
   * valid question; one without words matches nothing.
   */
  search(question: string, limit: number): Hit[] {
    const { query } = this.#termsOf(question);
    const hits = this.#words.matches(query, this.#scope, Math.max(limit, READ));
    const order = new WordOrder(question);
    const texts = this.texts(hits.slice(0, READ).map(({ chunkId }) => chunkId));
    const scored = hits.map((hit) => ({ ...hit, score: hit.score * order.worth(texts.get(hit.chunkId)) }));
    return scored.sort((a, b) => b.score - a.score).slice(0, limit);
  }

  /** For each of the question's rarest words that any chunk contains, which of these chunks contain it. */
  rareWords(question: string, chunkIds: readonly number[]): Set<number>[] {
    return this.#words.counts
      .rarest(this.#termsOf(question).byWord)
      .map((terms) => this.#words.holding(terms, chunkIds));
  }

  /** Words of a question that no chunk contains, with the indexed words searched in their place. */
  misspelt(question: string): readonly WordTerms[] {
    return this.#termsOf(question).misspelt;
  }

  /** How many of the newest chunks with a question's words were ranked, since they are very common; null: all were. */
  newest(question: string): number | null {
    return this.#termsOf(question).query.newest;
  }

  #termsOf(question: string): QuestionTerms {
    if (this.#last?.question === question) return this.#last;
    const languages = this.#words.counts.languages();
    const byWord = termsByWord(question, languages);
    const misspelt = this.#words.counts.similar(byWord);
    const near = new Map(misspelt.map((each) => [each.word, each]));
    const terms = [...termsFor(question, languages), ...misspelt.flatMap((each) => each.terms)];
    this.#last = {
      question,
      misspelt,
      query: this.#words.query(terms, this.#scope),
      byWord: byWord.map((each) => near.get(each.word) ?? each),
    };
    return this.#last;
  }

  /** Whether a document has more than a few chunks. */
  isLong({ documentId }: Pick<ChunkPlace, 'documentId'>): boolean {
    return this.#words.hasChunk(documentId, LONG - 1, this.#scope);
  }

  /** The chunks up to `reach` positions before and after one, in its document and under the same headings. */
  neighbours(hit: ChunkPlace, reach: number): { chunkId: number; ordinal: number }[] {
    return this.#words.neighbours(hit, reach);
  }

  /** Up to `count` chunks before one under the same headings, nearest first, until they have this many characters in total. */
  before(hit: ChunkPlace, count: number, characters: number): { chunkId: number; ordinal: number }[] {
    return this.#words.before(hit, count, characters);
  }

  firstOf(documentId: number): ChunkPlace | undefined {
    return this.#words.firstOf(documentId, this.#scope);
  }

  texts(chunkIds: readonly number[]): Map<number, ChunkText> {
    return this.#words.texts(chunkIds);
  }

  /** Other documents in scope whose title occurs in a chunk's text, verbatim. A title shared by several documents is ignored. */
  mentions({ chunkId }: Pick<Hit, 'chunkId'>): number[] {
    const { text, titles } = this.#words.titlesIn(chunkId, this.#scope, MIN_TITLE_LENGTH);
    return titles.filter(({ title }) => standsAlone(title, text)).map(({ id }) => id);
  }
}

/** Whether `title` occurs in `text` with no letter or digit on either side; unspaced scripts have no such word boundaries. */
function standsAlone(title: string, text: string): boolean {
  const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(title);
  for (let at = text.indexOf(title); at >= 0; at = text.indexOf(title, at + 1)) {
    const before = text.slice(Math.max(0, at - 2), at);
    const after = text.slice(at + title.length, at + title.length + 2);
    if (unspaced || (!/[\p{L}\p{N}]$/u.test(before) && !/^[\p{L}\p{N}]/u.test(after))) return true;
  }
  return false;
}
