import { sequenceOf } from '../catalogue/words.ts';
import type { ChunkText } from '../catalogue/search-scope.ts';

/** Weight of a pair with one word in between, relative to an adjacent one. */
const BROKEN = 0.5;
/** Weight of pairs in the titles above a passage, relative to those in its text. */
const IN_TITLES = 0.5;

/**
 * How far a passage has a question's words in the question's order: BM25 knows which words occur in it, not whether it says "signed tags"
 * or has a signature and, elsewhere, a tag. The sequential dependence model (Metzler and Croft, SIGIR 2005) adds neighbouring pairs of
 * words to the words themselves; words are compared unstemmed, since it is informative, too, which of two inflections the text uses.
 */
export class WordOrder {
  /** The words that follow a word in the question; each such pair has a number. */
  readonly #pairs = new Map<string, Map<string, number>>();
  #count = 0;

  constructor(question: string) {
    const words = sequenceOf(question);
    words.slice(1).forEach((word, i) => {
      const before = words[i] ?? '';
      const followers = this.#pairs.get(before) ?? new Map<string, number>();
      if (!followers.has(word)) followers.set(word, this.#count++);
      this.#pairs.set(before, followers);
    });
  }

  /** From 1 (none of the question's pairs) to 2.5 (all of them, in text and titles); 1 when there is no text. */
  worth(passage: ChunkText | undefined): number {
    if (!passage || this.#count === 0) return 1;
    return 1 + this.#share(passage.text) + IN_TITLES * this.#share(passage.title);
  }

  #share(text: string): number {
    const found = new Map<number, number>();
    const words = sequenceOf(text);
    for (let at = 0; at < words.length; at++) {
      const followers = this.#pairs.get(words[at] ?? '');
      if (!followers) continue;
      const broken = followers.get(words[at + 2] ?? '');
      if (broken !== undefined) found.set(broken, Math.max(found.get(broken) ?? 0, BROKEN));
      const unbroken = followers.get(words[at + 1] ?? '');
      if (unbroken !== undefined) found.set(unbroken, 1);
    }
    return [...found.values()].reduce((sum, worth) => sum + worth, 0) / this.#count;
  }
}
