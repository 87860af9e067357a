import { describe, expect, test } from 'vitest';
import { agreement, randomTokens, rangeOf } from './compare.ts';

describe('comparing tokens', () => {
  test('agreement counts the common prefix', () => {
    expect(agreement(Int32Array.of(1, 2, 3), Int32Array.of(1, 2, 4))).toBe(2);
    expect(agreement(Int32Array.of(1, 2), Int32Array.of(1, 2, 4))).toBe(2);
  });

  test('the range of a large vocabulary', () => {
    const logits = new Float32Array(262_144);
    logits.set([-3, 5], 200_000);
    expect(rangeOf(logits)).toBe(8);
  });

  test('random tokens are deterministic, in range and not special', () => {
    const a = randomTokens(1000, 500, 7);
    expect(a).toEqual(randomTokens(1000, 500, 7));
    expect(Math.min(...a)).toBeGreaterThanOrEqual(3);
    expect(Math.max(...a)).toBeLessThan(500);
  });
});
