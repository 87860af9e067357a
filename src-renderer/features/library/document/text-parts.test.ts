import { describe, expect, it } from 'vitest';
import { findRange, passageOf, textParts } from './text-parts.ts';

const page = (start: number, end: number, label: string) => ({ start, end, label });

describe('textParts', () => {
  it('is the text itself where nothing is to be drawn', () => {
    expect(textParts('abc', 10, [], undefined)).toEqual([{ text: 'abc', page: undefined, marked: false }]);
  });

  it('cuts at pages and at the passage, and loses nothing', () => {
    const parts = textParts('0123456789', 100, [page(90, 104, '1'), page(104, 120, '2')], {
      start: 102,
      end: 106,
    });
    expect(parts).toEqual([
      { text: '01', page: undefined, marked: false },
      { text: '23', page: undefined, marked: true },
      { text: '45', page: '2', marked: true },
      { text: '6789', page: undefined, marked: false },
    ]);
  });

  it('marks a stretch inside the passage as a whole, and none beside it', () => {
    expect(textParts('abc', 10, [], { start: 0, end: 50 })).toMatchObject([{ text: 'abc', marked: true }]);
    expect(textParts('abc', 10, [], { start: 13, end: 50 })).toMatchObject([{ text: 'abc', marked: false }]);
    expect(textParts('abc', 10, [], { start: 0, end: 10 })).toMatchObject([{ text: 'abc', marked: false }]);
  });

  it('says the page that begins at the stretch itself', () => {
    expect(textParts('abc', 10, [page(10, 13, 'iv')], undefined)).toMatchObject([{ page: 'iv' }]);
  });
});

describe('passageOf', () => {
  it('reads a range and refuses what is none', () => {
    expect(passageOf('start=3&end=9')).toEqual({ start: 3, end: 9 });
    for (const query of ['', 'start=3', 'start=9&end=3', 'start=x&end=4', 'start=-2&end=4']) {
      expect(passageOf(query)).toBeUndefined();
    }
  });
});

describe('findRange', () => {
  const ranges = Array.from({ length: 1000 }, (_, n) => ({ start: n * 10, end: n * 10 + 10 }));
  let asked = 0;
  const at = (index: number) => {
    asked++;
    return Promise.resolve(ranges[index]);
  };

  it('finds the range of any position with few questions', async () => {
    for (const position of [0, 9, 10, 5004, 9999]) {
      asked = 0;
      expect(await findRange(ranges.length, at, position)).toBe(Math.floor(position / 10));
      expect(asked).toBeLessThanOrEqual(11);
    }
  });

  it('stays inside for positions behind the end', async () => {
    expect(await findRange(ranges.length, at, 1e9)).toBe(999);
    expect(await findRange(0, at, 5)).toBe(0);
  });
});

it('parts know the numbers of their lines, and whether one begins with them', () => {
  const passage = { start: 104, end: 108 };
  const parts = textParts('one\ntwo\nthree', 100, [], passage, 7);
  expect(parts.map(({ text, line }) => [text, line])).toEqual([
    ['one\n', { number: 7, begins: true }],
    ['two\n', { number: 8, begins: true }],
    ['three', { number: 9, begins: true }],
  ]);
  const within = textParts('one\ntwo', 100, [], { start: 105, end: 107 }, 7);
  expect(within.map(({ line }) => line)).toEqual([
    { number: 7, begins: true },
    { number: 8, begins: false },
  ]);
});
