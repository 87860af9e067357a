import { diffArrays } from 'diff';
import type { ComparedMethod } from '../../../../src-shared/comparison.ts';

/** A run of text: in both texts, only in this one, or only in the reference. */
export interface TextRun {
  kind: 'same' | 'added' | 'missing';
  text: string;
}

/** Word-level difference between two texts; scripts without spaces are segmented into words. */
export function textDiff(reference: string, text: string, language: string): TextRun[] {
  return diffArrays(wordsOf(reference, language), wordsOf(text, language)).map(
    ({ added, removed, value }) => ({
      kind: added ? 'added' : removed ? 'missing' : 'same',
      text: value.join(''),
    }),
  );
}

/** Words with the punctuation and spaces that follow them, so that runs read well. */
function wordsOf(text: string, language: string): string[] {
  const words: string[] = [];
  for (const { segment, isWordLike } of new Intl.Segmenter(language, { granularity: 'word' }).segment(text)) {
    const last = words.length - 1;
    if (isWordLike === true || last < 0) words.push(segment);
    else words[last] = `${words[last] ?? ''}${segment}`;
  }
  return words;
}

type AnswerTexts = Pick<ComparedMethod, 'thought' | 'text'>;

/** Whether two methods wrote the same text, including thoughts. */
export function isSameWriting(one: AnswerTexts, other: AnswerTexts, language: string): boolean {
  return (['thought', 'text'] as const).every((part) => isSame(textDiff(one[part], other[part], language)));
}

export function isSame(runs: readonly TextRun[]): boolean {
  return runs.every(({ kind }) => kind === 'same');
}
