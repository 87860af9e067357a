import { wordsOf } from '../answering/highlights.ts';

/** A sentence of which less than this share of words stands in a passage does not rest on it. */
const LEAST_SHARE = 0.5;
/** Words of the answer tell more of what supports it than words of the question, which stand in every passage found. */
const ANSWER_WEIGHT = 2;
/** Passages nearly as good as the best one are named, too. */
const NEARLY = 0.9;

/** Ends of sentences: marks with what closes behind them, where the next one can begin, or the end of a line. */
const END = /[.!?]+["'”’)\]]*(?=\s)|[。！？]+[”’」』）]*(?=[^。！？”’」』）])|(?=\n)/u;
/** What may turn out to be one. */
const OPEN = /[.!?。！？]+["'”’)\]」』）]*$/u;

/** Writes behind each sentence of a stream the numbers of the passages that it rests on, such as [2], before its full stop. */
export class CitationMarks {
  readonly #passages: readonly Set<string>[];
  readonly #question: Set<string>;
  /** A sentence that is said again is cited where it stood first. */
  readonly #said = new Set<string>();
  #sentence = '';
  #held = '';

  /** `passages` in the order that citations have. */
  constructor(passages: readonly string[], question: string) {
    this.#passages = passages.map(wordsOf);
    this.#question = wordsOf(question);
  }

  push(text: string): string {
    let rest = this.#held + text;
    let out = '';
    for (let end; (end = END.exec(rest));) {
      const behind = end.index + end[0].length;
      const gap = /^\s*/.exec(rest.slice(behind))?.[0] ?? '';
      this.#sentence += rest.slice(0, end.index);
      out += rest.slice(0, end.index) + this.#marks() + end[0] + gap;
      rest = rest.slice(behind + gap.length);
    }
    const open = OPEN.exec(rest)?.index ?? rest.length;
    this.#sentence += rest.slice(0, open);
    this.#held = rest.slice(open);
    return out + rest.slice(0, open);
  }

  /** What is left at the end of the stream. */
  flush(): string {
    const rest = this.#marks() + this.#held;
    this.#held = '';
    return rest;
  }

  /** Of the sentence that ends here. */
  #marks(): string {
    const numbers = supporting(wordsOf(this.#sentence), this.#passages, this.#question);
    const said = this.#sentence.trim();
    const again = this.#said.has(said);
    this.#said.add(said);
    this.#sentence = '';
    return numbers.length > 0 && !again ? ` ${numbers.map((number) => `[${number}]`).join('')}` : '';
  }
}

/** Numbers, from 1, of the passages that have most of a sentence's words, where words that few passages have count most. */
export function supporting(
  sentence: ReadonlySet<string>,
  passages: readonly ReadonlySet<string>[],
  question: ReadonlySet<string>,
  leastShare = LEAST_SHARE,
): number[] {
  const said = [...sentence].filter((word) => !question.has(word));
  const telling = said.length > 0 ? said : [...sentence];
  const among = (word: string): number => passages.filter((words) => words.has(word)).length;
  const counts = new Map([...telling, ...question].map((word) => [word, among(word)]));
  const rarity = (word: string): number => 1 / (counts.get(word) ?? 1);
  const scores = passages.map((words) => {
    const found = telling.filter((word) => words.has(word));
    if (found.length === 0 || found.length < telling.length * leastShare) return 0;
    const asked = [...question].filter((word) => words.has(word));
    return ANSWER_WEIGHT * sum(found.map(rarity)) + sum(asked.map(rarity));
  });
  const best = Math.max(0, ...scores);
  return scores.flatMap((score, i) => (best > 0 && score >= best * NEARLY ? [i + 1] : []));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
