import { mean } from '../../src-main/fusion/averages.ts';
import { randomFrom } from '../../src-main/testing/random.ts';

/** A mean of measurements per question, with its 95 % confidence interval. */
export interface Interval {
  mean: number;
  low: number;
  high: number;
}

const RESAMPLES = 1000;

/**
 * Bootstrap (Efron 1979): the means of 1,000 resamples with replacement, each as large as the sample. The draws are always the same, so
 * that two methods on the same questions are compared on the same draws, and runs can be repeated.
 */
export function interval(values: readonly number[]): Interval {
  if (values.length === 0) return { mean: NaN, low: NaN, high: NaN };
  const random = randomFrom(1);
  const means = Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += values[Math.floor(random() * values.length)] ?? 0;
    return sum / values.length;
  }).sort((a, b) => a - b);
  const at = (share: number): number => means[Math.round(share * (RESAMPLES - 1))] ?? NaN;
  return { mean: mean(values), low: at(0.025), high: at(0.975) };
}

/** Paired difference of two methods on the same questions: an interval containing 0 is not a significant difference. */
export function difference(a: readonly number[], b: readonly number[]): Interval {
  return interval(a.map((value, i) => value - (b[i] ?? NaN)));
}
