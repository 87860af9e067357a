import { boundScope, type BoundScope, type Hit, type SearchScope } from '../catalogue/word-table.ts';
import type { ChunkPlace, WordTable } from '../catalogue/word-table.ts';
import { matchQuery } from '../catalogue/words.ts';

/** Shorter titles are everyday words more often than names. */
const MIN_TITLE_LENGTH = 4;

/** Full-text search over some chunk sets, and what stands around the chunks that it finds. */
export class SearchIndex {
  readonly #words: WordTable;
  readonly #scope: BoundScope;

  constructor(words: WordTable, scope: number | SearchScope) {
    this.#words = words;
    this.#scope = boundScope(typeof scope === 'number' ? { chunkSetIds: [scope] } : scope);
  }

  /** The chunks that match best, best first. Any text is a valid question; one without words matches nothing. */
  search(question: string, limit: number): Hit[] {
    const match = matchQuery(question);
    return match === '' ? [] : this.#words.matches(match, this.#scope, limit);
  }

  /** The chunk's neighbours in its document: before and after, where there are any. */
  neighbours(hit: ChunkPlace): { chunkId: number; ordinal: number }[] {
    return this.#words.neighbours(hit, this.#scope);
  }

  /** Up to `count` chunks before one in its document, nearest first. */
  before(hit: ChunkPlace, count: number): { chunkId: number; ordinal: number }[] {
    return this.#words.before(hit, this.#scope, count);
  }

  /** The best chunk of one document, or its first one when none matches. */
  bestOf(documentId: number, question: string): Hit | undefined {
    const match = matchQuery(question);
    const best = match === '' ? undefined : this.#words.bestOf(documentId, match, this.#scope);
    if (best) return best;
    const first = this.#words.firstOf(documentId, this.#scope);
    return first && { ...first, score: 0 };
  }

  /** Other documents in reach whose title stands in a chunk's text, word for word. */
  mentions({ chunkId }: Pick<Hit, 'chunkId'>): number[] {
    return this.#words
      .titlesIn(chunkId, this.#scope, MIN_TITLE_LENGTH)
      .filter(({ title, text }) => standsAlone(title, text))
      .map(({ id }) => id);
  }
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
