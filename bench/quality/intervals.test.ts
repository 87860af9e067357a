import { expect, test } from 'vitest';
import { randomFrom } from '../../src-main/testing/random.ts';
import { difference, interval } from './intervals.ts';

test('an interval contains the mean, narrows with more questions, and is deterministic', () => {
  const random = randomFrom(3);
  const draw = (n: number): number[] => Array.from({ length: n }, () => (random() < 0.7 ? 1 : 0));
  const [few, many] = [draw(40), draw(4000)];
  const [wide, narrow] = [interval(few), interval(many)];
  for (const { low, mean, high } of [wide, narrow])
    expect([low, mean, high]).toEqual([low, mean, high].toSorted((a, b) => a - b));
  expect(narrow.high - narrow.low).toBeLessThan((wide.high - wide.low) / 4);
  expect(narrow.mean).toBeCloseTo(0.7, 1);
  expect(interval(few)).toEqual(wide);
});

test('equal values have a zero-width interval, no values a NaN mean', () => {
  expect(interval([1, 1, 1])).toEqual({ mean: 1, low: 1, high: 1 });
  expect(interval([]).mean).toBeNaN();
});

test('two methods are compared by question', () => {
  const hard = Array.from({ length: 100 }, (_, i) => (i % 2 === 0 ? 1 : 0));
  const worse = hard.map((value, i) => (i % 20 === 0 ? 0 : value));
  const { low, mean } = difference(hard, worse);
  expect(mean).toBeCloseTo(0.05, 12);
  expect(low).toBeGreaterThan(0);
});
