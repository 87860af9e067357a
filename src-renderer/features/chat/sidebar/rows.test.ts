import { expect, test } from 'vitest';
import { nextItem, rowsOf, type Row } from './rows.ts';

const NOW = new Date(2026, 10, 21, 15, 0).getTime();
const at = (id: string, date: Date, pinned = false, projectId: string | null = null) => ({
  id,
  title: id,
  updatedMs: date.getTime(),
  snippet: '',
  match: null,
  pinned,
  projectId,
  messages: 2,
  thoughts: false,
  busy: false,
});
const shown = (row: Row): string => {
  if (row.kind === 'item') return row.summary.id;
  return row.kind === 'heading'
    ? `# ${row.group}`
    : `${row.open ? '-' : '+'} ${row.project.name} ${row.count}`;
};
const ROWS = rowsOf(
  [
    at('old', new Date(2026, 5, 1)),
    at('now', new Date(2026, 10, 21, 14)),
    at('early', new Date(2026, 10, 21, 0, 1)),
    at('late', new Date(2026, 10, 20, 23, 59)),
    at('monday', new Date(2026, 10, 16)),
  ],
  { nowMs: NOW },
);

test('newest first, under headings by the day', () => {
  expect(ROWS.map(shown)).toEqual([
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
    { nowMs: NOW },
  );
  expect(rows.map(shown)).toEqual(['# pinned', 'pinned now', 'pinned old', '# today', 'now']);
});

test('headings are stepped over', () => {
  expect(nextItem(ROWS, 2, 1)).toBe(4);
  expect(nextItem(ROWS, 4, -1)).toBe(2);
  expect(nextItem(ROWS, -1, 1)).toBe(1);
  expect(nextItem(ROWS, 8, 1)).toBeUndefined();
  expect(nextItem(ROWS, 1, -1)).toBeUndefined();
});

test('projects stand between pinned and other conversations, open or closed', () => {
  const options = { scope: { libraryIds: [], documentIds: [] } };
  const project = (id: string) => ({ id, name: `Project ${id}`, instructions: '', modelId: null, options });
  const today = new Date(2026, 10, 21, 14);
  const rows = rowsOf(
    [
      at('of none', today),
      at('of 1', today, false, '1'),
      at('pinned of 1', today, true, '1'),
      at('of 2', today, false, '2'),
      at('of a removed one', today, false, '9'),
    ],
    { nowMs: NOW, projects: [project('1'), project('2'), project('3')], closed: ['2'] },
  );
  expect(rows.map(shown)).toEqual([
    '# pinned',
    'pinned of 1',
    '- Project 1 1',
    'of 1',
    '+ Project 2 1',
    '- Project 3 0',
    '# today',
    'of none',
    'of a removed one',
  ]);
  expect(nextItem(rows, 1, 1)).toBe(2);
  expect(nextItem(rows, 5, 1)).toBe(7);
});
