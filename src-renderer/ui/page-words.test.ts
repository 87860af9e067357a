import { expect, test } from 'vitest';
import { pageWords } from './page-words.ts';

test.each([
  ['12', 'p. 12'],
  ['iv', 'p. iv'],
  ['3-4', 'p. 3-4'],
  ['12 (OCR)', 'p. 12 (OCR)'],
  ['Airports', 'Airports'],
  ['Airports (OCR)', 'Airports (OCR)'],
  ['4. The basics', '4. The basics'],
])('%s', (label, expected) => {
  expect(pageWords(label, (page) => `p. ${page}`)).toBe(expected);
});
