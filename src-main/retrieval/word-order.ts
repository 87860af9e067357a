import { sequenceOf } from '../catalogue/words.ts';
import type { ChunkText } from '../catalogue/word-table.ts';

/** What a pair with one word between counts beside an unbroken one. */
const BROKEN = 0.5;
/** What pairs in the titles above a passage count beside those in its text. */
const IN_TITLES = 0.5;

/**
 * How far a passage has a question's words in the question's order: BM25 knows which words stand in it, not whether "signed
 * tags" or a signature and, elsewhere, a tag. The sequential dependence model (Metzler and Croft, SIGIR 2005) adds neighbouring
 * pairs of words to the words themselves; words are taken as they are written, since that of two inflections the same stands
 * in the text tells something as well.
 */
export class WordOrder {
  readonly #pairs: readonly string[];

  constructor(question: string) {
    this.#pairs = pairsOf(sequenceOf(question), 1);
  }

  /** From 1 (none of the question's pairs) to 2.5 (all of them, in text and titles); 1 where there is no text. */
  worth(passage: ChunkText | undefined): number {
    if (!passage || this.#pairs.length === 0) return 1;
    return 1 + this.#share(passage.text) + IN_TITLES * this.#share(passage.title);
  }

  #share(text: string): number {
    const words = sequenceOf(text);
    const unbroken = new Set(pairsOf(words, 1));
    const broken = new Set(pairsOf(words, 2));
    const of = (pair: string): number => (unbroken.has(pair) ? 1 : broken.has(pair) ? BROKEN : 0);
    return this.#pairs.reduce((sum, pair) => sum + of(pair), 0) / this.#pairs.length;
  }
}

/** Each word with the one `distance` places behind it. */
function pairsOf(words: readonly string[], distance: number): string[] {
  return words.slice(distance).map((word, i) => `${words[i]} ${word}`);
}
