import { describe, expect, it } from 'vitest';
import { PAGE_ROWS, pagesAround, windowsOf } from './paging.ts';

describe('pagesAround', () => {
  it('covers every shown row wherever the list is', () => {
    for (let first = 0; first < 5000; first += 7) {
      const last = first + 80;
      const { even, odd } = pagesAround(first, last);
      expect(even % 2).toBe(0);
      expect(Math.abs(even - odd)).toBe(1);
      const lower = Math.min(even, odd) * PAGE_ROWS;
      expect(first).toBeGreaterThanOrEqual(lower);
      expect(last).toBeLessThan(lower + 2 * PAGE_ROWS);
    }
  });

  it('keeps one page when scrolling on to the next', () => {
    expect(pagesAround(0, 30)).toEqual({ even: 0, odd: 1 });
    expect(pagesAround(310, 340)).toEqual({ even: 2, odd: 1 });
  });
});

describe('windowsOf', () => {
  it('cuts a range into windows without gap or overlap', () => {
    expect(windowsOf(5, 2204, 1000)).toEqual([
      { offset: 5, limit: 1000 },
      { offset: 1005, limit: 1000 },
      { offset: 2005, limit: 200 },
    ]);
    expect(windowsOf(7, 7, 1000)).toEqual([{ offset: 7, limit: 1 }]);
  });
});
