import { describe, expect, test } from 'vitest';
import { agreement, compareLogits, randomTokens } from './compare.ts';

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

  test('agreement counts the common start', () => {
    expect(agreement(Int32Array.of(1, 2, 3), Int32Array.of(1, 2, 4))).toBe(2);
    expect(agreement(Int32Array.of(1, 2), Int32Array.of(1, 2, 4))).toBe(2);
  });

  test('random tokens are repeatable, in range and not special', () => {
    const a = randomTokens(1000, 500, 7);
    expect(a).toEqual(randomTokens(1000, 500, 7));
    expect(Math.min(...a)).toBeGreaterThanOrEqual(3);
    expect(Math.max(...a)).toBeLessThan(500);
  });
});
