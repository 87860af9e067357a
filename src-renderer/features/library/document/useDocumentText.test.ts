import { describe, expect, it } from 'vitest';
import { sliceOf } from './useDocumentText.ts';

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
