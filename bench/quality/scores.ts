/** Scores of question-answering suites. An answer's score is that of its closest reference; without references it is 0. */

export const SCORES = { added, f1, exact, rougeL, holds, holdsAll };
export type ScoreName = keyof typeof SCORES;

/**
 * F1 of the words that the question does not contain. Answers in whole sentences repeat the question, so a sentence with the wrong fact
 * shares most of its words with the right one.
 */
export function added(answer: string, references: readonly string[], question: string): number {
  const asked = new Set(wordsOf(question));
  const words = (text: string): string[] => wordsOf(text).filter((word) => !asked.has(word));
  return best(references, (reference) => harmonic(answer, reference, shared, words));
}

/** F1 of common words (SQuAD: Rajpurkar et al. 2016): lower case, without punctuation and articles. */
export function f1(answer: string, references: readonly string[]): number {
  return best(references, (reference) => harmonic(answer, reference, shared));
}

/** 1 if the words are equal, else 0. */
export function exact(answer: string, references: readonly string[]): number {
  return best(references, (reference) =>
    wordsOf(answer).join(' ') === wordsOf(reference).join(' ') ? 1 : 0,
  );
}

/** ROUGE-L (Lin 2004): F1 of the longest common subsequence of words. */
export function rougeL(answer: string, references: readonly string[]): number {
  return best(references, (reference) => harmonic(answer, reference, longestCommon, plainWordsOf));
}

/** 1 if the answer contains a reference as whole words, else 0. */
export function holds(answer: string, references: readonly string[]): number {
  const words = ` ${plainWordsOf(answer).join(' ')} `;
  return best(references, (reference) => (words.includes(` ${plainWordsOf(reference).join(' ')} `) ? 1 : 0));
}

/** The share of the references that the answer contains, ignoring case (RULER's score for lists). */
export function holdsAll(answer: string, references: readonly string[]): number {
  const text = answer.toLowerCase();
  return references.filter((one) => text.includes(one.toLowerCase())).length / Math.max(1, references.length);
}

function best(references: readonly string[], score: (reference: string) => number): number {
  return Math.max(0, ...references.map(score));
}

/** 1 if neither has a word, 0 if only one has. */
function harmonic(
  answer: string,
  reference: string,
  common: (a: readonly string[], b: readonly string[]) => number,
  words = wordsOf,
): number {
  const [a, b] = [words(answer), words(reference)];
  if (a.length + b.length === 0) return 1;
  return (2 * common(a, b)) / (a.length + b.length);
}

const ARTICLES = new Set(['a', 'an', 'the']);

function wordsOf(text: string): string[] {
  return plainWordsOf(text.replaceAll(/\p{P}/gu, '')).filter((word) => !ARTICLES.has(word));
}

/** Runs of letters and digits; single characters in scripts without spaces. */
function plainWordsOf(text: string): string[] {
  return (
    text.toLowerCase().match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}\p{M}]+/gu) ??
    []
  );
}

/** Number of common words, counting repetitions. */
function shared(a: readonly string[], b: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of b) left.set(word, (left.get(word) ?? 0) + 1);
  let count = 0;
  for (const word of a) {
    const there = left.get(word) ?? 0;
    if (there > 0) count++;
    left.set(word, there - 1);
  }
  return count;
}

function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0);
  for (const word of a) {
    const next = [0];
    for (const [j, other] of b.entries())
      next.push(word === other ? (row[j] ?? 0) + 1 : Math.max(row[j + 1] ?? 0, next[j] ?? 0));
    row = next;
  }
  return row.at(-1) ?? 0;
}
