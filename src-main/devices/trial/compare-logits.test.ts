import { describe, expect, test } from 'vitest';
import { compareLogits } from './compare-logits.ts';

describe('comparing logits', () => {
  test('equal vectors differ by nothing', () => {
    const a = Float32Array.of(1, -2, 3);
    expect(compareLogits(a, a)).toEqual({ maxOfRange: 0, relative: 0 });
  });

  test('the largest difference is taken as a share of the range', () => {
    const { maxOfRange } = compareLogits(Float32Array.of(0, 1, 10), Float32Array.of(0, 2, 10));
    expect(maxOfRange).toBeCloseTo(0.1);
  });

  test('a NaN never passes a bound', () => {
    for (const at of [0, 1, 2]) {
      const a = Float32Array.of(1, 2, 3);
      a[at] = NaN;
      expect(compareLogits(a, Float32Array.of(1, 2, 3)).maxOfRange <= 1).toBe(false);
    }
  });

  test('different lengths are misuse', () => {
    expect(() => compareLogits(new Float32Array(2), new Float32Array(3))).toThrow(TypeError);
  });
});
