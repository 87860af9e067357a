import { expect, test } from 'vitest';
import { passagesByPage } from './passages-by-page.ts';

const TEXT = 'First page.\n\nSecond page.\n\nThird.';
const pages = [
  { label: 'i', start: 0, end: 11 },
  { label: '1', start: 13, end: 25 },
  { label: '2', start: 25, end: 25 },
  { label: '3', start: 27, end: 33 },
];

function passages(start: number, end: number) {
  const text = { text: TEXT.slice(start, end), length: TEXT.length, offset: start, line: null, pages };
  return passagesByPage(text, [{ page: 1, lines: [[0.1, 0.2, 0.9, 0.25]] }]);
}

test('a passage over several pages is divided; an empty page has none of it', () => {
  expect(passages(6, 33)).toEqual([
    { page: 1, text: 'page.', near: 6 / 11, lines: [] },
    { page: 2, text: 'Second page.', near: 0, lines: [[0.1, 0.2, 0.9, 0.25]] },
    { page: 4, text: 'Third.', near: 0, lines: [] },
  ]);
});

test('a passage within a page is on that page only', () => {
  expect(passages(20, 24)).toEqual([{ page: 2, text: 'page', near: 7 / 12, lines: [[0.1, 0.2, 0.9, 0.25]] }]);
  expect(passages(14, 33).map(({ page }) => page)).toEqual([2, 4]);
  expect(passages(11, 13)).toEqual([]);
});
