import type { Range } from '../../../src-shared/contract/common.ts';

/** A text in parts, with those inside a range marked. Ranges may overlap, touch, be unsorted, or exceed the text. */
export function highlighted(text: string, ranges: readonly Range[]): { text: string; marked: boolean }[] {
  const parts: { text: string; marked: boolean }[] = [];
  let at = 0;
  const add = (to: number, marked: boolean): void => {
    if (to > at) parts.push({ text: text.slice(at, to), marked });
    at = Math.max(at, to);
  };
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    add(Math.min(start, text.length), false);
    add(Math.min(end, text.length), true);
  }
  add(text.length, false);
  return parts;
}

/** Maximum number of characters before the first mark, so that it is within the visible lines. */
const LEAD = 200;

/** The text from shortly before its first mark; the whole text if the mark is near the start or missing. */
export function excerptOf(text: string, ranges: readonly Range[]): { text: string; ranges: Range[] } {
  const first = Math.min(...ranges.map(({ start }) => start));
  if (!Number.isFinite(first) || first <= LEAD) return { text, ranges: [...ranges] };
  const space = text.lastIndexOf(' ', first - LEAD / 2);
  const from = space > 0 ? space + 1 : first - LEAD / 2;
  const shift = (at: number): number => at - from + 1;
  return {
    text: `…${text.slice(from)}`,
    ranges: ranges.map(({ start, end }) => ({ start: shift(start), end: shift(end) })),
  };
}
