import { z } from 'zod';

/** Sums over observations, each divided by its time: what counts is how wrong a fit is in proportion, not in milliseconds. */
export const FitSchema = z.object({
  /** Products of all pairs of features, row by row. */
  products: z.array(z.number()),
  /** Features, and the observations' weight. */
  features: z.array(z.number()),
  weight: z.number(),
});
export type Fit = z.infer<typeof FitSchema>;

/** What of a feature its neighbours must not explain, for its cost to be told apart from theirs. */
const OWN_SHARE = 1e-6;

/** The fit with another observation: `features` took `ms`. Nothing is learnt from less than a microsecond. */
export function observed(fit: Fit | undefined, features: readonly number[], ms: number): Fit {
  const n = features.length;
  const { products, features: sums, weight } = fit ?? emptyFit(n);
  if (sums.length !== n) throw new TypeError(`features must be ${sums.length} numbers, not ${n}`);
  if (!(ms > 1e-3) || !Number.isFinite(ms)) return { products, features: sums, weight };
  const scaled = features.map((feature) => feature / ms);
  return {
    products: products.map((sum, k) => sum + (scaled[Math.floor(k / n)] ?? 0) * (scaled[k % n] ?? 0)),
    features: sums.map((sum, i) => sum + (scaled[i] ?? 0)),
    weight: weight + 1,
  };
}

/** The fit in which all that was seen so far counts this share. */
export function faded(fit: Fit | undefined, share: number): Fit | undefined {
  return (
    fit && {
      products: fit.products.map((sum) => sum * share),
      features: fit.features.map((sum) => sum * share),
      weight: fit.weight * share,
    }
  );
}

/**
 * Milliseconds per unit of each feature, none below 0, with the least squared relative error: of all sets of features whose
 * own solution has no negative cost, the best; of equals the one of earlier features. There are few, so all sets are tried.
 * Undefined while nothing was seen.
 */
export function costsOf(fit: Fit | undefined): number[] | undefined {
  if (!fit || fit.weight <= 0) return undefined;
  const n = fit.features.length;
  let best: { costs: number[]; error: number } | undefined;
  for (let set = 1; set < 1 << n; set++) {
    const chosen = Array.from({ length: n }, (_, i) => i).filter((i) => set & (1 << i));
    const solution = solve(fit, chosen);
    if (!solution || solution.some((cost) => cost < 0)) continue;
    const costs = Array.from({ length: n }, (_, i) => solution[chosen.indexOf(i)] ?? 0);
    const error = errorOf(fit, costs);
    // Later sets must be worth it, or what the data cannot tell apart would be decided by rounding.
    if (!best || error < best.error - 1e-9 * fit.weight) best = { costs, error };
  }
  return best?.costs;
}

/** Milliseconds for these features; undefined while nothing was seen. */
export function predicted(fit: Fit | undefined, features: readonly number[]): number | undefined {
  return costsOf(fit)?.reduce((sum, cost, i) => sum + cost * (features[i] ?? 0), 0);
}

function emptyFit(n: number): Fit {
  return {
    products: Array.from({ length: n * n }, () => 0),
    features: Array.from({ length: n }, () => 0),
    weight: 0,
  };
}

function errorOf({ products, features, weight }: Fit, costs: readonly number[]): number {
  const n = costs.length;
  const squares = products.reduce(
    (sum, p, k) => sum + p * (costs[Math.floor(k / n)] ?? 0) * (costs[k % n] ?? 0),
    0,
  );
  const mixed = features.reduce((sum, f, i) => sum + f * (costs[i] ?? 0), 0);
  return squares - 2 * mixed + weight;
}

/** The normal equations of some features, by elimination; undefined where they cannot be told apart. */
function solve({ products, features }: Fit, chosen: readonly number[]): number[] | undefined {
  const n = features.length;
  const scale = chosen.map((i) => Math.sqrt(products[i * n + i] ?? 0));
  if (scale.some((s) => s === 0)) return undefined;
  const rows = chosen.map((i, r) => [
    ...chosen.map((j, c) => (products[i * n + j] ?? 0) / ((scale[r] ?? 1) * (scale[c] ?? 1))),
    (features[i] ?? 0) / (scale[r] ?? 1),
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
