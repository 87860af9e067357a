import type { Range } from '../../../src-shared/contract/common.ts';

/** A text in pieces, those inside a range marked. Ranges may overlap, touch, be out of order, or reach beyond the text. */
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

/** Characters that may stand before the first mark, so that it is among the lines that are shown. */
const LEAD = 200;

/** The text from a little before its first mark on; the whole text when that comes early or there is none. */
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
