import { max, min, quantile } from 'd3-array';
import { scaleLinear, scaleLog } from 'd3-scale';

export type ScaleKind = 'linear' | 'log';

/** Maps a deviation to the strength of its shade, 0 to 1; and the deviations at both ends, for the legend. */
export interface DeviationScale {
  strength: (deviation: number) => number;
  low: number;
  high: number;
  /** Some tokens deviate more than `high` and share its shade. */
  clipped: boolean;
}

/**
 * Linear: from 0 to the 99th percentile, so that a few outliers do not leave all other tokens blank. Logarithmic: from
 * the first percentile to the maximum, so that differences among small values are visible.
 */
export function deviationScale(deviations: readonly number[], kind: ScaleKind): DeviationScale {
  const largest = max(deviations) ?? 0;
  if (largest <= 0) return { strength: () => 0, low: 0, high: 0, clipped: false };
  if (kind === 'linear') {
    const percentile = quantile(deviations, 0.99) ?? largest;
    const high = percentile > 0 ? percentile : largest;
    return { strength: scaleLinear([0, high], [0, 1]).clamp(true), low: 0, high, clipped: high < largest };
  }
  const positive = deviations.filter((value) => value > 0);
  const least = quantile(positive, 0.01) ?? largest;
  const low = least < largest ? least : (min(positive) ?? largest) / 10;
  const scale = scaleLog([low, largest], [0, 1]).clamp(true);
  return { strength: (value) => (value > 0 ? scale(value) : 0), low, high: largest, clipped: false };
}
