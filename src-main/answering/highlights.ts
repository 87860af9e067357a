import type { Range } from '../../src-shared/contract/common.ts';

/** Words of the answer say more about what supports it than words of the question, which occur in every retrieved passage. */
const ANSWER_WEIGHT = 2;

/** Sentences with at least this share of the best score are marked, too. */
const NEARLY = 0.7;

interface Sentence extends Range {
  words: Set<string>;
}

/**
 * The sentences of a passage that share most with an answer; words that few other sentences of the passage have count most. Empty when no
 * word of the answer occurs. UTF-16 ranges, ascending.
 */
export function supportingRanges(passage: string, answer: { question: string; text: string }): Range[] {
  const inQuestion = wordsOf(answer.question);
  const inAnswer = new Set([...wordsOf(answer.text)].filter((word) => !inQuestion.has(word)));
  const sentences = sentencesOf(passage);
  const rarity = (word: string): number => 1 / sentences.filter(({ words }) => words.has(word)).length;
  const scored = sentences.map(({ start, end, words }) => {
    const supporting = [...words].filter((word) => inAnswer.has(word));
    const asked = [...words].filter((word) => inQuestion.has(word));
    const score = ANSWER_WEIGHT * sum(supporting.map(rarity)) + sum(asked.map(rarity));
    return { start, end, score: supporting.length > 0 ? score : 0 };
  });
  const best = Math.max(0, ...scored.map(({ score }) => score));
  return scored.flatMap(({ start, end, score }) =>
    best > 0 && score >= best * NEARLY ? [{ start, end }] : [],
  );
}

/** Its sentences and their ranges. */
export function sentencesOf(passage: string): Sentence[] {
  const segments = new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(passage);
  return [...segments].flatMap(({ segment, index }) => {
    const text = segment.trim();
    const start = index + segment.indexOf(text);
    return text === '' ? [] : [{ start, end: start + text.length, words: wordsOf(text) }];
  });
}

/** Its words, in lower case. */
export function wordsOf(text: string): Set<string> {
  const segments = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text);
  return new Set(
    [...segments].flatMap(({ segment, isWordLike }) => (isWordLike ? [segment.toLowerCase()] : [])),
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
