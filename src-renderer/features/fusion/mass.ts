import { cumsum, descending } from 'd3-array';

/** Share of the total deviation held by the tokens that deviate most, as a function of how many are selected. */
export interface MassCurve {
  tokens: number;
  /** Share of the deviation held by the `ratio` of tokens that deviate most; both 0 to 1. */
  covered: (ratio: number) => number;
  /** The smallest ratio that covers a share. */
  ratioFor: (share: number) => number;
  points: (count: number) => { x: number; y: number }[];
}

/** null if nothing was compared or nothing deviates. */
export function massCurve(deviations: readonly number[]): MassCurve | null {
  const sums = cumsum(deviations.toSorted(descending));
  const tokens = sums.length;
  const total = sums[tokens - 1] ?? 0;
  if (total <= 0) return null;
  const held = (count: number) => (count <= 0 ? 0 : (sums[Math.min(tokens, count) - 1] ?? total) / total);
  const covered = (ratio: number) => held(Math.round(Math.min(1, Math.max(0, ratio)) * tokens));
  return {
    tokens,
    covered,
    ratioFor: (share) => {
      const found = sums.findIndex((sum) => sum / total >= share);
      return ((found === -1 ? tokens - 1 : found) + 1) / tokens;
    },
    points: (count) => Array.from({ length: count + 1 }, (_, i) => ({ x: i / count, y: covered(i / count) })),
  };
}
