import { sequenceOf } from '../catalogue/words.ts';

/** Consecutive words compared together. */
const RUN = 3;
/** Share of the longer text's runs that texts have in common which say nearly the same. */
const SHARED = 0.85;
/** Texts that say nearly the same, at most: the second may differ in what the question is about. */
const ALIKE = 2;

/** Tells texts that say the same as earlier ones. */
export class SeenTexts {
  readonly #texts = new Set<string>();
  readonly #runs: ReadonlySet<string>[] = [];

  /** same: an earlier text has these words; alike: several earlier ones say nearly the same. */
  add(text: string): 'new' | 'alike' | 'same' {
    const joined = text.toLowerCase().replace(/\s+/g, ' ');
    if (this.#texts.has(joined)) return 'same';
    this.#texts.add(joined);
    const words = sequenceOf(text);
    const runs = new Set(words.slice(RUN - 1).map((_, i) => words.slice(i, i + RUN).join(' ')));
    if (this.#runs.filter((other) => isAlike(runs, other)).length >= ALIKE) return 'alike';
    this.#runs.push(runs);
    return 'new';
  }
}

function isAlike(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  if (small.size === 0 || small.size < large.size * SHARED) return false;
  return [...small].filter((run) => large.has(run)).length >= large.size * SHARED;
}
