import { describe, expect, it } from 'vitest';
import { histogramOf, summaryOf } from './chunk-sizes.ts';

describe('sizes of chunks', () => {
  it('are summed up without depending on their order', () => {
    expect(summaryOf([300, 10, 500, 480])).toEqual({ min: 10, median: 480, max: 500 });
    expect(summaryOf([7])).toEqual({ min: 7, median: 7, max: 7 });
    expect(summaryOf([])).toBeUndefined();
  });

  it('are counted into bars, each once', () => {
    expect(histogramOf([0, 49, 50, 99, 100, 130], 100, 4)).toEqual([1, 1, 1, 3]);
    expect(histogramOf([], 100, 3)).toEqual([0, 0, 0]);
  });
});
