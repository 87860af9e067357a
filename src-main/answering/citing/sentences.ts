import type { Range } from '../../../src-shared/contract/common.ts';
import type { SourceText } from './source-sentences.ts';

/** How many sentences before a sentence tell what it is about. */
const BEFORE = 3;

/** "Dr. Smith", "z. B.", "Nr. 5": the full stop ends no sentence. */
const ABBREVIATION = /(?:^|[\s(])(?:\p{Lu}\p{Ll}?|\p{Ll}|Mrs|Prof|Fig|Abs|Art|vgl|bzw)\.\s*$/u;

/** Whether a text ends with an abbreviation. */
export function isAbbreviated(text: string): boolean {
  return ABBREVIATION.test(text);
}

/** The UTF-16 ranges of a text's sentences, ascending, without white space around them. */
export function sentencesOf(text: string): Range[] {
  const segments = new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(text);
  const ranges: Range[] = [];
  let isOpen = false;
  for (const { segment, index } of segments) {
    const sentence = segment.trim();
    if (sentence === '') continue;
    const start = index + segment.indexOf(sentence);
    const end = start + sentence.length;
    const last = ranges.at(-1);
    if (isOpen && last) last.end = end;
    else ranges.push({ start, end });
    isOpen = isAbbreviated(segment) && !segment.includes('\n');
  }
  return ranges;
}

const HEADING = /^[#=]+ /;

/** The sentences of a passage as sources, each with its range; headings are context only. `title`: the headings above the passage. */
export function sourcesIn(text: string, title: string): (SourceText & Range)[] {
  const ranges = sentencesOf(text);
  const sentences = ranges.map(({ start, end }) => text.slice(start, end));
  return ranges.flatMap((range, i) => {
    const sentence = sentences[i] ?? '';
    if (HEADING.test(sentence)) return [];
    return [{ ...range, text: sentence, context: contextOf(sentences, i, title) }];
  });
}

/** What the sentence at `index` is about: its title, and the sentences directly before it. */
export function contextOf(sentences: readonly string[], index: number, title: string): string {
  return [title, ...sentences.slice(Math.max(0, index - BEFORE), index)].join('\n');
}
