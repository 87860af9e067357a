import type { Interval } from '../../src-shared/contract/watching.ts';

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}

/** Student's t of a one-sided test at 5 % with eight values; for more values this is slightly stricter. */
const T = 1.9;

/** The 90 % confidence interval of a mean. Null with fewer than two values. */
export function intervalOf(values: readonly number[]): Interval | null {
  if (values.length < 2) return null;
  const middle = mean(values);
  const variance = values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1);
  const reach = T * Math.sqrt(variance / values.length);
  return { mean: middle, low: middle - reach, high: middle + reach };
}
