import { expect, test } from 'vitest';
import { typeColumn, type CellValue } from './column-values.ts';

const cases: [
  what: string,
  texts: (string | undefined)[],
  type: string,
  unit: string | undefined,
  values: CellValue[],
][] = [
  ['integers, an empty cell', ['7', undefined, '12'], 'number', undefined, [7, null, 12]],
  ['points, groups with commas', ['1,234.50', '3', '-0.5'], 'number', undefined, [1234.5, 3, -0.5]],
  ['German numbers with a unit', ['1.234,56 €', '12,00 €', '7 €'], 'number', '€', [1234.56, 12, 7]],
  ['a unit before', ['$1,200', '$15.25'], 'number', '$', [1200, 15.25]],
  ['a currency code', ['EUR 3', 'EUR 4.5'], 'number', 'EUR', [3, 4.5]],
  ['groups with spaces', ['12 500', '1 000 000'], 'number', undefined, [12_500, 1_000_000]],
  ['Swiss groups', ["1'250.75", '980.10'], 'number', undefined, [1250.75, 980.1]],
  ['negative in brackets', ['(1,200)', '300'], 'number', undefined, [-1200, 300]],
  ['a minus sign', ['−5', '+3'], 'number', undefined, [-5, 3]],
  ['percentages', ['12.5 %', '7%'], 'number', '%', [12.5, 7]],
  ['powers of ten', ['1.20E+03', '5e-1'], 'number', undefined, [1200, 0.5]],
  ['kilograms', ['12 kg', '1.5 kg'], 'number', 'kg', [12, 1.5]],
  ['two units have no sum', ['5 kg', '3 lb'], 'text', undefined, ['5 kg', '3 lb']],
  ['postcodes', ['01234', '80331'], 'text', undefined, ['01234', '80331']],
  ['words', ['North', ' So\nuth '], 'text', undefined, ['North', 'So uth']],
  ['days', ['2026-03-19', '2026-11-02'], 'date', undefined, ['2026-03-19', '2026-11-02']],
  ['German days', ['19.3.2026', '02.11.2026'], 'date', undefined, ['2026-03-19', '2026-11-02']],
  ['American days', ['3/19/2026', '11/2/2026'], 'date', undefined, ['2026-03-19', '2026-11-02']],
  [
    'day and month cannot be told apart',
    ['3/4/2026', '5/6/2026'],
    'text',
    undefined,
    ['3/4/2026', '5/6/2026'],
  ],
  [
    'a day with its time',
    ['2026-03-19T07:30', '2026-03-20 08:00'],
    'date',
    undefined,
    ['2026-03-19 07:30', '2026-03-20 08:00'],
  ],
];

test.each(cases)('%s', (_, texts, type, unit, values) => {
  expect(typeColumn(texts)).toMatchObject({ type, unit, values });
});

test('where a number can be read in two ways, the file decides', () => {
  expect(typeColumn(['1,234'], false).values).toEqual([1234]);
  expect(typeColumn(['1,234'], true).values).toEqual([1.234]);
});

test('a few other texts among numbers count as empty, and are counted', () => {
  const texts = [...Array.from({ length: 40 }, (_, i) => String(i + 1)), 'n/a'];
  const { type, values, unread } = typeColumn(texts);
  expect([type, values.at(-1), unread]).toEqual(['number', null, 1]);
});

test('many other texts make it a column of texts', () => {
  expect(typeColumn(['1', '2', 'n/a']).type).toBe('text');
});
