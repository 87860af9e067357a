import { describe, expect, it } from 'vitest';
import { lineAt, sliceOf } from './useDocumentText.ts';

describe('sliceOf', () => {
  const windows = [
    { offset: 10, text: 'klmnopqrst' },
    { offset: 0, text: 'abcdefghij' },
  ];

  it('takes a range out of one window or across two, in whatever order they came', () => {
    expect(sliceOf(windows, 2, 5)).toBe('cde');
    expect(sliceOf(windows, 8, 13)).toBe('ijklm');
    expect(sliceOf(windows, 10, 20)).toBe('klmnopqrst');
    expect(sliceOf(windows, 4, 4)).toBe('');
  });

  it('is undefined while a part is missing', () => {
    expect(sliceOf(windows, 18, 22)).toBeUndefined();
    expect(sliceOf([{ offset: 10, text: 'klm' }], 8, 12)).toBeUndefined();
    expect(sliceOf([], 0, 1)).toBeUndefined();
  });
});

describe('lineAt', () => {
  const windows = [
    { offset: 0, text: 'one\ntwo\nth', line: 1 },
    { offset: 10, text: 'ree\nfour', line: 3 },
  ];

  it('is the number of a line where one begins', () => {
    expect([0, 4, 8, 14].map((offset) => lineAt(windows, offset))).toEqual([1, 2, 3, 4]);
  });

  it('is undefined within a line, outside of the windows, and without numbers', () => {
    expect([1, 3, 10, 11, 99].map((offset) => lineAt(windows, offset))).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(lineAt([{ offset: 0, text: 'one', line: null }], 0)).toBeUndefined();
  });
});
