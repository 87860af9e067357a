import { sequenceOf } from '../catalogue/words.ts';

/** Consecutive words compared together. */
const RUN = 3;
/** Share of the longer text's runs that a version of another text has in common with it. */
const SHARED = 0.85;

/** Tells texts that say the same as an earlier one. */
export class SeenTexts {
  readonly #texts = new Set<string>();
  readonly #runs: Set<string>[] = [];

  /** same: its words are those of an earlier text; version: most of its runs of words are. Only new texts are remembered for their runs. */
  add(text: string): 'new' | 'version' | 'same' {
    const words = sequenceOf(text);
    const joined = text.toLowerCase().replace(/\s+/g, ' ');
    if (this.#texts.has(joined)) return 'same';
    this.#texts.add(joined);
    const runs = new Set(words.slice(RUN - 1).map((_, i) => words.slice(i, i + RUN).join(' ')));
    if (this.#runs.some((other) => isVersion(runs, other))) return 'version';
    this.#runs.push(runs);
    return 'new';
  }
}

function isVersion(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const [small, large] = a.size < b.size ? [a, b] : [b, a];
  const shared = [...small].filter((run) => large.has(run)).length;
  return small.size > 0 && shared >= large.size * SHARED;
}
