import { expect, test } from 'vitest';
import { tablesIn, type TableInfo } from './tables.ts';

const TABLES = ['a', 'Sales 2026', 'Towns'].map((name): TableInfo => {
  return { name, sheet: '', rows: 1, totalsLeftOut: 0, columns: [] };
});

test.each([
  ['SELECT COUNT(*) FROM "Sales 2026" WHERE "a" = 1', ['Sales 2026']],
  ['select * from towns join [a] using (x)', ['a', 'Towns']],
  ['SELECT 1', []],
])('%s', (sql, names) => {
  expect(tablesIn(sql, TABLES).map(({ name }) => name)).toEqual(names);
});
