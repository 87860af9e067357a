interface SizeSummary {
  min: number;
  median: number;
  max: number;
}

/** undefined if there are none. */
export function summaryOf(sizes: readonly number[]): SizeSummary | undefined {
  const sorted = sizes.toSorted((a, b) => a - b);
  const [min, median, max] = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  if (min === undefined || median === undefined || max === undefined) return undefined;
  return { min, median, max };
}

/** How many sizes fall into each of `count` equal bins from 0 to `limit`; larger sizes count in the last bin. */
export function histogramOf(sizes: readonly number[], limit: number, count: number): number[] {
  const bars = Array.from({ length: count }, () => 0);
  for (const size of sizes) {
    const index = Math.min(count - 1, Math.floor((size / Math.max(1, limit)) * count));
    bars[index] = (bars[index] ?? 0) + 1;
  }
  return bars;
}
