import { max, mean, sum } from 'd3-array';
import {
  matrixValues,
  type ComparedMethod,
  type Comparison,
  type DeepView,
} from '../../../../src-shared/comparison.ts';
import type { Grid } from '../../../viz/heat/layout.ts';
import { judged, reuseOf } from '../compare/methods.ts';

/** A deep comparison, prepared for pictures and captions. */

export type DeepMethod = ComparedMethod & { deep: DeepView };

export function deepMethods({ methods }: Comparison): DeepMethod[] {
  return methods.filter((method): method is DeepMethod => method.deep !== null);
}

/** Full reuse shows the deviation to be corrected; without it, the first method that was measured. */
export function baseOf(comparison: Comparison): DeepMethod | undefined {
  const reuse = reuseOf(comparison);
  const known = deepMethods(comparison);
  return known.find((method) => method === reuse) ?? known[0];
}

/** The method being judged, if it was measured. */
export function blendOf(comparison: Comparison): DeepMethod | undefined {
  const way = judged(comparison);
  return deepMethods(comparison).find((method) => method === way);
}

export type MatrixName = 'v' | 'k';

export function gridOf({ deep }: DeepMethod, matrix: MatrixName): Grid {
  const { rows, columns } = deep[matrix];
  return { rows, columns, values: matrixValues(deep[matrix]) };
}

/** Tokens at the start of a passage, which were encoded without the text that now precedes them. */
export const HEAD_TOKENS = 16;

interface HeatFacts {
  /** Share of the cached tokens' deviation in the first tokens of passages, and the share of cached tokens that these make up. */
  headShare: number;
  headTokens: number;
  strongest: { layer: number; position: number; value: number };
}

/** null if nothing deviates. */
export function heatFacts(
  { rows, columns, values }: Grid,
  parts: readonly { start: number; tokens: number; cached: boolean }[],
): HeatFacts | null {
  let [head, all, headTokens, tokens, at] = [0, 0, 0, 0, 0];
  for (const [i, value] of values.entries()) if (value > (values[at] ?? 0)) at = i;
  for (const { start, tokens: count } of parts.filter(({ cached }) => cached)) {
    tokens += count;
    headTokens += Math.min(HEAD_TOKENS, count);
    for (let i = 0; i < count; i++)
      for (let row = 0; row < rows; row++) {
        const value = values[row * columns + start + i] ?? 0;
        all += value;
        if (i < HEAD_TOKENS) head += value;
      }
  }
  const value = values[at] ?? 0;
  if (value <= 0) return null;
  return {
    headShare: all > 0 ? head / all : 0,
    headTokens: tokens > 0 ? headTokens / tokens : 0,
    strongest: { layer: Math.floor(at / columns), position: at % columns, value },
  };
}

interface AttentionFacts {
  /** Mean over layers. */
  mean: number;
  worstLayer: number;
  worst: number;
}

export function attentionFacts({ deep: { layers } }: DeepMethod): AttentionFacts {
  const found = layers.map(({ attention }) => attention);
  const worst = max(found) ?? 0;
  return { mean: mean(found) ?? 0, worst, worstLayer: found.indexOf(worst) };
}

/** Share of the deviation held by 0, 5, … 100 % of the tokens: mean, minimum and maximum over the layers that deviate. */
interface ConcentrationPoint {
  ratio: number;
  mean: number;
  low: number;
  high: number;
}

export function concentrationOf({ deep: { concentration } }: DeepMethod): ConcentrationPoint[] {
  const curves = concentration.filter((curve) => (curve.at(-1) ?? 0) > 0);
  const [first] = curves;
  if (!first) return [];
  return first.map((_, step) => {
    const shares = curves.map((curve) => curve[step] ?? 0);
    return {
      ratio: step / (first.length - 1),
      mean: sum(shares) / shares.length,
      low: Math.min(...shares),
      high: Math.max(...shares),
    };
  });
}

/** The share covered at a ratio, interpolated between known points. */
export function coveredAt(points: readonly ConcentrationPoint[], ratio: number): number {
  const next = points.findIndex((point) => point.ratio >= ratio);
  const [before, after] = [points[next - 1], points[next]];
  if (!after) return 1;
  if (!before) return after.mean;
  const share = (ratio - before.ratio) / (after.ratio - before.ratio);
  return before.mean + share * (after.mean - before.mean);
}

/** The smallest ratio that covers a share. */
export function ratioCovering(points: readonly ConcentrationPoint[], share: number): number {
  const next = points.findIndex((point) => point.mean >= share);
  const [before, after] = [points[next - 1], points[next]];
  if (!after || !before) return after?.ratio ?? 1;
  return (
    before.ratio +
    ((share - before.mean) / Math.max(1e-9, after.mean - before.mean)) * (after.ratio - before.ratio)
  );
}

/** Rank correlation of a layer with the next, if both deviate. */
export function rankPairs({
  deep: { rankCorrelation, concentration },
}: DeepMethod): { layer: number; value: number }[] {
  const deviates = (layer: number) => (concentration[layer]?.at(-1) ?? 0) > 0;
  return rankCorrelation.flatMap((value, layer) =>
    deviates(layer) && deviates(layer + 1) ? [{ layer, value }] : [],
  );
}
