import { expect, test } from 'vitest';
import { readingOrder } from './bidi.ts';

const visual = (text: string): string[] => Array.from(text);

test('text from left to right stays', () => {
  expect(readingOrder(visual('Gate 12 (north)'))).toBe('Gate 12 (north)');
});

test('a line from right to left is turned round, but not its numbers and foreign words', () => {
  expect(readingOrder(visual('12.5 רעש'))).toBe('שער 12.5');
  expect(readingOrder(visual('Pier 7 םולש רעש'))).toBe('שער שלום Pier 7');
  expect(readingOrder(visual('(רעש)'))).toBe('(שער)');
});

test('words from right to left within other text', () => {
  expect(readingOrder(visual('The gate is called םולש רעש here.'))).toBe('The gate is called שער שלום here.');
});
