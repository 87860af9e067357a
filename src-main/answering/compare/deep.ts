import { matrixOf, type DeepView, type SplitStats } from '../../../src-shared/comparison.ts';
import type { DeviationStats } from '../../../src-shared/fusion-report.ts';
import type { SessionDeviation } from '../../engine/engine.ts';
import { rankCorrelation } from '../../fusion/rank-correlation.ts';

/** Which tokens the statistics cover; by position. */
interface TokenMarks {
  cached: Uint8Array;
  recomputed: Uint8Array;
}

/** Number of steps at which the concentration is given: every 5 % of the tokens. */
const STEPS = 20;

/** How far a prompt computed in one way is from the full prefill, for display. */
export function deepOf({ k, v, attention }: SessionDeviation, layers: number, marked: TokenMarks): DeepView {
  const tokens = marked.cached.length;
  const ofCached = Array.from({ length: layers }, (_, i) => cachedIn(layerOf(v, i, tokens), marked));
  return {
    v: matrixOf(layers, tokens, v),
    k: matrixOf(layers, tokens, k),
    layers: ofCached.map((_, i) => ({
      v: splitStats(layerOf(v, i, tokens), marked),
      k: splitStats(layerOf(k, i, tokens), marked),
      attention: attention?.[i] ?? 0,
    })),
    rankCorrelation: ofCached.slice(1).map((values, i) => rankCorrelation(ofCached[i] ?? [], values)),
    concentration: ofCached.map(concentrationOf),
  };
}

/** By layer: the mean of the cached tokens' values; 0 where there are none. */
export function layerMeans(values: Float32Array, layers: number, marked: TokenMarks): number[] {
  return Array.from({ length: layers }, (_, i) =>
    mean(cachedIn(layerOf(values, i, marked.cached.length), marked)),
  );
}

function layerOf(values: Float32Array, layer: number, tokens: number): Float32Array {
  return values.subarray(layer * tokens, (layer + 1) * tokens);
}

function cachedIn(values: Float32Array, { cached }: TokenMarks): Float32Array {
  return values.filter((_, position) => cached[position] === 1);
}

function splitStats(values: Float32Array, { cached, recomputed }: TokenMarks): SplitStats {
  const those = (computed: number): Float32Array =>
    values.filter((_, position) => cached[position] === 1 && recomputed[position] === computed);
  return { recomputed: statsOf(those(1)), stored: statsOf(those(0)) };
}

function statsOf(values: Float32Array): DeviationStats | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted();
  return { tokens: values.length, mean: mean(values), p95: sorted[Math.ceil(0.95 * values.length) - 1] ?? 0 };
}

function mean(values: Float32Array): number {
  return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : 0;
}

/** The share of the sum held by the largest 0, 5, … 100 % of the values; interpolated linearly between tokens. */
function concentrationOf(values: Float32Array): number[] {
  const sums = [0];
  for (const value of values.toSorted().reverse()) sums.push((sums.at(-1) ?? 0) + value);
  const all = sums.at(-1) ?? 0;
  return Array.from({ length: STEPS + 1 }, (_, step) => {
    const place = (values.length * step) / STEPS;
    const [below, above] = [sums[Math.floor(place)] ?? 0, sums[Math.ceil(place)] ?? 0];
    return all > 0 ? (below + (above - below) * (place % 1)) / all : 0;
  });
}
