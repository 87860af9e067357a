import { describe, expect, test } from 'vitest';
import { randomFrom } from '../../testing/random.ts';
import { DEFAULT_FLOOR } from '../calibration/choose.ts';
import { intervalOf } from '../averages.ts';
import { breaksFloor, FEWEST, LATEST, nextLeastRatio } from './judge.ts';

const answers = (...kls: number[]) => kls.map((kl) => ({ kl, agreement: 1 }));
const broken = (list: readonly { kl: number; agreement: number }[]) => breaksFloor(list, DEFAULT_FLOOR);
const many = (count: number, kl: number): number[] => Array.from({ length: count }, () => kl);

describe('the floor', () => {
  test('breaks when answers are plainly above it', () => {
    expect(broken(answers(...many(FEWEST, 0.3)))).toBe(true);
    expect(broken(answers(...many(LATEST, 0.03)))).toBe(true);
    expect(broken(answers(...many(LATEST, 0.0075)))).toBe(false);
  });

  test('does not break with few answers, however bad', () => {
    expect(broken(answers(...many(FEWEST - 1, 9)))).toBe(false);
    expect(broken([])).toBe(false);
  });

  test('does not break by one or two bad answers, however bad, nor where the others are just below it', () => {
    for (let count = FEWEST; count <= LATEST; count++) {
      for (const bad of [0.1, 1, 10, 1e6]) {
        expect(broken(answers(bad, ...many(count - 1, 0)))).toBe(false);
        expect(broken(answers(bad, ...many(count - 1, 0.0099)))).toBe(false);
        expect(broken(answers(bad, bad, ...many(count - 2, 0)))).toBe(false);
      }
    }
  });

  test('breaks by five bad answers of forty, not by four', () => {
    const bad = (count: number) => answers(...many(count, 1), ...many(LATEST - count, 0));
    expect(broken(bad(4))).toBe(false);
    expect(broken(bad(5))).toBe(true);
  });

  test('breaks by tokens that differ, too', () => {
    const differing = Array.from({ length: 20 }, (_, i) => ({ kl: 0, agreement: i % 2 === 0 ? 0.8 : 1 }));
    expect(broken(differing)).toBe(true);
    expect(broken([...answers(...many(30, 0)), { kl: 0, agreement: 0 }])).toBe(false);
  });

  test('is rarely thought broken while it is kept: in one of ten windows of answers near it at most', () => {
    const random = randomFrom(7);
    const windows = Array.from({ length: 400 }, () =>
      // Few large values among many small ones, as KL is: the mean is 0.016.
      answers(...Array.from({ length: 20 }, () => -0.008 * Math.log(1 - random()))),
    );
    expect(windows.filter((list) => broken(list)).length / windows.length).toBeLessThan(0.1);
  });
});

test('an interval is as wide as the values are apart, and there is none of one value', () => {
  expect(intervalOf([0.2])).toBeNull();
  expect(intervalOf([0.25, 0.25, 0.25])).toEqual({ mean: 0.25, low: 0.25, high: 0.25 });
  const { mean, low, high } = intervalOf([0, 1, 0, 1]) ?? { mean: 0, low: 0, high: 0 };
  expect(mean).toBe(0.5);
  expect(high - mean).toBeCloseTo(mean - low);
  // 1.9 × the standard error: √(1/3) / 2.
  expect(high - mean).toBeCloseTo((1.9 * Math.sqrt(1 / 3)) / 2);
});

test('the ratio rises one step above what was used; where that did not help, everything is computed', () => {
  const at = (ratio: number) => [{ ratio }, { ratio: 0.9 }];
  expect(nextLeastRatio(0, at(0))).toBe(0.3);
  expect(nextLeastRatio(0, at(0.15))).toBe(0.3);
  expect(nextLeastRatio(0, at(0.3))).toBe(0.5);
  expect(nextLeastRatio(0, at(0.5))).toBe(1);
  expect(nextLeastRatio(0.3, at(0.3))).toBe(1);
});
