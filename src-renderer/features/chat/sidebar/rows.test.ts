import { expect, test } from 'vitest';
import { nextItem, rowsOf } from './rows.ts';

const NOW = new Date(2026, 10, 21, 15, 0).getTime();
const at = (id: string, date: Date, pinned = false) => ({
  id,
  title: id,
  updatedMs: date.getTime(),
  snippet: '',
  match: null,
  pinned,
  messages: 2,
  thoughts: false,
  busy: false,
});
const ROWS = rowsOf(
  [
    at('old', new Date(2026, 5, 1)),
    at('now', new Date(2026, 10, 21, 14)),
    at('early', new Date(2026, 10, 21, 0, 1)),
    at('late', new Date(2026, 10, 20, 23, 59)),
    at('monday', new Date(2026, 10, 16)),
  ],
  NOW,
);

test('newest first, under headings by the day', () => {
  expect(ROWS.map((row) => (row.kind === 'heading' ? `# ${row.group}` : row.summary.id))).toEqual([
    '# today',
    'now',
    'early',
    '# yesterday',
    'late',
    '# week',
    'monday',
    '# older',
    'old',
  ]);
});

test('pinned conversations come first, in one group', () => {
  const rows = rowsOf(
    [
      at('now', new Date(2026, 10, 21, 14)),
      at('pinned old', new Date(2026, 5, 1), true),
      at('pinned now', new Date(2026, 10, 21, 13), true),
    ],
    NOW,
  );
  expect(rows.map((row) => (row.kind === 'heading' ? `# ${row.group}` : row.summary.id))).toEqual([
    '# pinned',
    'pinned now',
    'pinned old',
    '# today',
    'now',
  ]);
});

test('headings are stepped over', () => {
  expect(nextItem(ROWS, 2, 1)).toBe(4);
  expect(nextItem(ROWS, 4, -1)).toBe(2);
  expect(nextItem(ROWS, -1, 1)).toBe(1);
  expect(nextItem(ROWS, 8, 1)).toBeUndefined();
  expect(nextItem(ROWS, 1, -1)).toBeUndefined();
});
