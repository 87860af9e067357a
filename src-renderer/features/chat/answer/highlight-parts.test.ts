import { expect, test } from 'vitest';
import { highlightParts } from './highlight-parts.ts';

const show = (text: string, ...ranges: [number, number][]) =>
  highlightParts(
    text,
    ranges.map(([start, end]) => ({ start, end })),
  )
    .map(({ text: part, marked }) => (marked ? `[${part}]` : part))
    .join('|');

test('ranges are marked, the rest is kept', () => {
  expect(show('one two three', [4, 7])).toBe('one |[two]| three');
  expect(show('one two', [0, 3])).toBe('[one]| two');
  expect(show('one')).toBe('one');
});

test('ranges may overlap, come in any order, and reach beyond the text', () => {
  expect(show('abcdef', [3, 5], [1, 4])).toBe('a|[bcd]|[e]|f');
  expect(show('abc', [2, 99], [50, 60])).toBe('ab|[c]');
  expect(show('abc', [2, 1])).toBe('abc');
});
