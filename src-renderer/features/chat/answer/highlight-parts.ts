import type { Range } from '../../../../src-shared/contract/common.ts';

export interface TextPart {
  text: string;
  marked: boolean;
}

/** Splits a text at ranges, which may overlap and be unsorted. */
export function highlightParts(text: string, ranges: readonly Range[]): TextPart[] {
  const parts: TextPart[] = [];
  const add = (start: number, end: number, marked: boolean): void => {
    if (end > start) parts.push({ text: text.slice(start, end), marked });
  };
  let at = 0;
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    const from = Math.max(at, start);
    const to = Math.min(text.length, end);
    if (to <= from) continue;
    add(at, from, false);
    add(from, to, true);
    at = to;
  }
  add(at, text.length, false);
  return parts;
}
