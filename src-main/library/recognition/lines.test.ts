import { expect, test } from 'vitest';
import { linesOf } from './lines.ts';

/** In hundredths of the page. */
const word = (...box: number[]): number[] => [0, 1, ...box.map((part) => (part * 65_535) / 100)];
const rounded = (words: number[][]): number[][] =>
  linesOf(words).map((line) => line.map((share) => Math.round(share * 100)));

test('words on a line are one box, however high their letters are; others are not', () => {
  const line = [word(10, 20, 18, 24), word(20, 21, 30, 25), word(32, 20, 40, 23)];
  const next = [word(10, 26, 18, 30)];
  const heading = [word(20, 20, 60, 36)];
  expect(rounded([...line, ...next, ...heading])).toEqual([
    [10, 20, 40, 25],
    [10, 26, 18, 30],
    [20, 20, 60, 36],
  ]);
  expect(rounded([])).toEqual([]);
});
