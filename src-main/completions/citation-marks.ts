import { wordsOf } from '../answering/highlights.ts';

/** A passage that contains less than this share of a sentence's words does not support it. */
const LEAST_SHARE = 0.5;
/** Words of the answer say more about what supports it than words of the question, which occur in every retrieved passage. */
const ANSWER_WEIGHT = 2;
/** Passages with at least this share of the best score are cited, too. */
const NEARLY = 0.9;

/** Ends of sentences: punctuation with closing marks after it, where the next one can begin, or the end of a line. */
const END = /[.!?]+["'”’)\]]*(?=\s)|[。！？]+[”’」』）]*(?=[^。！？”’」』）])|(?=\n)/u;
/** May turn out to be one. */
const OPEN = /[.!?。！？]+["'”’)\]」』）]*$/u;

/** Inserts after each sentence of a stream the numbers of the passages that support it, such as [2], before its full stop. */
export class CitationMarks {
  readonly #passages: readonly Set<string>[];
  readonly #question: Set<string>;
  /** A repeated sentence is cited only at its first occurrence. */
  readonly #said = new Set<string>();
  #sentence = '';
  #held = '';

  /** `passages` in citation order. */
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

  /** The remaining text at the end of the stream. */
  flush(): string {
    const rest = this.#marks() + this.#held;
    this.#held = '';
    return rest;
  }

  /** The marks of the sentence that ends here. */
  #marks(): string {
    const numbers = supporting(wordsOf(this.#sentence), this.#passages, this.#question);
    const said = this.#sentence.trim();
    const again = this.#said.has(said);
    this.#said.add(said);
    this.#sentence = '';
    return numbers.length > 0 && !again ? ` ${numbers.map((number) => `[${number}]`).join('')}` : '';
  }
}

/** Numbers, from 1, of the passages that contain most of a sentence's words; words that few passages contain count most. */
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
