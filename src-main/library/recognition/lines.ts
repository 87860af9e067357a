import type { PageLines } from '../../../src-shared/contract/libraries.ts';
import type { Scan } from '../../catalogue/scan-table.ts';

type Box = PageLines['lines'][number];

/** Boxes are stored in parts of this. */
const PARTS = 65_535;

/** Joins the boxes of words that follow each other on an upright line. */
export function linesOf(words: Scan['words']): Box[] {
  const lines: Box[] = [];
  for (const word of words) {
    const [left = 0, top = 0, right = 0, bottom = 0] = word.slice(2).map((part) => part / PARTS);
    const line = lines.at(-1);
    const box: Box = [left, top, right, bottom];
    if (line && isOn(line, box)) extend(line, box);
    else lines.push(box);
  }
  return lines;
}

/** Whether a box is on the line: its middle is as high, and it is about as tall. */
function isOn([, from, , to]: Box, [, top, , bottom]: Box): boolean {
  const middle = (top + bottom) / 2;
  return middle > from && middle < to && bottom - top < 2 * (to - from) && to - from < 2 * (bottom - top);
}

function extend(line: Box, box: Box): void {
  for (const i of [0, 1] as const) line[i] = Math.min(line[i], box[i]);
  for (const i of [2, 3] as const) line[i] = Math.max(line[i], box[i]);
}
