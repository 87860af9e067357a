import { z } from 'zod';

/**
 * Sums over observations, each divided by its expected time, so that the relative error counts, not the absolute one in milliseconds. Not
 * divided by the measured time: an observation that was slow by chance would then count least, and all predictions would be too short.
 */
export const LinearFitSchema = z.object({
  /** Products of all pairs of features, row by row. */
  products: z.array(z.number()),
  /** Products of features and time, and of time and time. */
  timed: z.array(z.number()),
  squares: z.number(),
});
export type LinearFit = z.infer<typeof LinearFitSchema>;

/** Shorter times are not a measurement. */
const LEAST_MS = 1e-3;

/** The share of a feature that its neighbours must leave unexplained, for its cost to be separable from theirs. */
const OWN_SHARE = 1e-6;

/** The fit with another observation: `features` took `ms`. Observations under a microsecond are ignored. */
export function withObservation(
  fit: LinearFit | undefined,
  features: readonly number[],
  ms: number,
): LinearFit {
  const n = features.length;
  const { products, timed, squares } = fit ?? emptyFit(n);
  if (timed.length !== n) throw new TypeError(`features must be ${timed.length} numbers, not ${n}`);
  if (!(ms > LEAST_MS) || !Number.isFinite(ms)) return { products, timed, squares };
  const expected = Math.max(predicted(fit, features) ?? ms, LEAST_MS);
  const scaled = features.map((feature) => feature / expected);
  const time = ms / expected;
  return {
    products: products.map((sum, k) => sum + (scaled[Math.floor(k / n)] ?? 0) * (scaled[k % n] ?? 0)),
    timed: timed.map((sum, i) => sum + (scaled[i] ?? 0) * time),
    squares: squares + time * time,
  };
}

/** The fit with all previous observations weighted by this share. */
export function withWeight(fit: LinearFit | undefined, share: number): LinearFit | undefined {
  return (
    fit && {
      products: fit.products.map((sum) => sum * share),
      timed: fit.timed.map((sum) => sum * share),
      squares: fit.squares * share,
    }
  );
}

/**
 * Milliseconds per unit of each feature, none below 0, with the least squared relative error: of all sets of features whose own solution
 * has no negative cost, the best; on ties the one with earlier features. There are few, so all sets are tried. Undefined without
 * observations.
 */
function costsOf(fit: LinearFit | undefined): readonly number[] | undefined {
  if (!fit || fit.squares <= 0) return undefined;
  if (!solved.has(fit)) solved.set(fit, bestOfAllSets(fit));
  return solved.get(fit);
}

/** A plan requests the same costs hundreds of times; fits are immutable. */
const solved = new WeakMap<LinearFit, readonly number[] | undefined>();

function bestOfAllSets(fit: LinearFit): readonly number[] | undefined {
  const n = fit.timed.length;
  let best: { costs: number[]; error: number } | undefined;
  for (let set = 1; set < 1 << n; set++) {
    const chosen = Array.from({ length: n }, (_, i) => i).filter((i) => set & (1 << i));
    const solution = solve(fit, chosen);
    if (!solution || solution.some((cost) => cost < 0)) continue;
    const costs = Array.from({ length: n }, (_, i) => solution[chosen.indexOf(i)] ?? 0);
    const error = errorOf(fit, costs);
    // Later sets must be clearly better, or rounding would decide between features that the data cannot distinguish.
    if (!best || error < best.error - 1e-9 * fit.squares) best = { costs, error };
  }
  return best?.costs;
}

/** Milliseconds for these features; undefined without observations. */
export function predicted(fit: LinearFit | undefined, features: readonly number[]): number | undefined {
  return costsOf(fit)?.reduce((sum, cost, i) => sum + cost * (features[i] ?? 0), 0);
}

function emptyFit(n: number): LinearFit {
  return {
    products: Array.from({ length: n * n }, () => 0),
    timed: Array.from({ length: n }, () => 0),
    squares: 0,
  };
}

function errorOf({ products, timed, squares }: LinearFit, costs: readonly number[]): number {
  const n = costs.length;
  const foreseen = products.reduce(
    (sum, p, k) => sum + p * (costs[Math.floor(k / n)] ?? 0) * (costs[k % n] ?? 0),
    0,
  );
  const mixed = timed.reduce((sum, f, i) => sum + f * (costs[i] ?? 0), 0);
  return foreseen - 2 * mixed + squares;
}

/** Solves the normal equations of some features by elimination; undefined where they are inseparable. */
function solve({ products, timed }: LinearFit, chosen: readonly number[]): number[] | undefined {
  const n = timed.length;
  const scale = chosen.map((i) => Math.sqrt(products[i * n + i] ?? 0));
  if (scale.some((s) => s === 0)) return undefined;
  const rows = chosen.map((i, r) => [
    ...chosen.map((j, c) => (products[i * n + j] ?? 0) / ((scale[r] ?? 1) * (scale[c] ?? 1))),
    (timed[i] ?? 0) / (scale[r] ?? 1),
  ]);
  for (const [k, row] of rows.entries()) {
    const pivot = row[k] ?? 0;
    if (pivot < OWN_SHARE) return undefined; // the diagonal was 1
    for (const other of rows) {
      if (other === row) continue;
      const factor = (other[k] ?? 0) / pivot;
      other.forEach((value, c) => (other[c] = value - factor * (row[c] ?? 0)));
    }
  }
  return rows.map((row, k) => (row[chosen.length] ?? 0) / (row[k] ?? 1) / (scale[k] ?? 1));
}
