import { expect, test } from 'vitest';
import { columns } from './columns.ts';

test('columns are as wide as their widest cell on a screen, and end where their text does', () => {
  const rows = [
    ['key', 'from', 'tokens'],
    ['abc', '手册.md', '7'],
    ['defg', 'a', '1024'],
  ];
  expect(columns(rows, ['left', 'left', 'right'])).toEqual([
    'key   from     tokens',
    'abc   手册.md       7',
    'defg  a          1024',
  ]);
  expect(
    columns(
      [
        ['a', 'long'],
        ['b', 'x'],
      ],
      ['left', 'left'],
    ),
  ).toEqual(['a  long', 'b  x']);
});

test('a cell is looked at a few times, however many rows there are', () => {
  let looks = 0;
  const cell = new Proxy(['text'], {
    get: (row, key, self) => (looks++, Reflect.get(row, key, self) as unknown),
  });
  const count = (rows: number): number => {
    looks = 0;
    columns(
      Array.from({ length: rows }, () => cell),
      ['left'],
    );
    return looks;
  };
  expect(count(200) / count(100)).toBe(2);
});
