import { z } from 'zod';
import { FitSchema, faded, observed, predicted, type Fit } from './fit.ts';
import type { Layout, Rows } from './work.ts';

/**
 * What computing costs with one model on one device. Features are in brackets, the ones that explain most first: while the
 * data cannot tell them apart, those before win. Every fit is of milliseconds.
 */
export const ComputeCostsSchema = z
  .object({
    /** A layer [rows, pairs of a row and a token it sees, 1]. */
    layer: FitSchema,
    /** Keys and values alone [rows, 1]. */
    keys: FitSchema,
    /** Choosing tokens at checks [reusable tokens · checks, checks]. */
    select: FitSchema,
    /** Turning stored keys to their positions [tokens · layers, layers]. */
    place: FitSchema,
    /** The question's own pass [its layers at their usual cost, tokens it can see · layers that tell what it looks at]. */
    question: FitSchema,
    /** From the last layer to logits, and whatever else an append does [1, tokens]. */
    rest: FitSchema,
  })
  .partial();
export type ComputeCosts = z.infer<typeof ComputeCostsSchema>;

/** What bringing stored KV in costs, by tier. */
export const TierCostsSchema = z
  .object({
    /** A layer of all files [bytes, files]; of a tier that is streamed from all layers of all values [bytes, values]. */
    load: FitSchema,
    /** Looking up and opening [files, those that are opened all at once as one]. */
    open: FitSchema,
  })
  .partial();
export type TierCosts = z.infer<typeof TierCostsSchema>;

/** Milliseconds of one layer; undefined while that is not known. */
export function layerMs(costs: ComputeCosts, rows: Rows): number | undefined {
  return rows.rows === 0 ? 0 : predicted(costs.layer, layerFeatures(rows));
}

/** Keys and values of some rows: what was seen of it, or else no more than the layer would take. */
export function keysMs(costs: ComputeCosts, { rows, pairs }: Rows): number | undefined {
  if (rows === 0) return 0;
  return predicted(costs.keys, [rows, 1]) ?? layerMs(costs, { rows, pairs });
}

export function questionFeatures(costs: ComputeCosts, layout: Layout): [number, number] {
  const layers = (layout.questionLayers.at(-1) ?? -1) + 1;
  let ms = 0;
  for (let layer = 0; layer < layers; layer++) ms += layerMs(costs, layout.freshIn(layer)) ?? 0;
  return [ms, layout.context * layout.questionLayers.length];
}

export function layerFeatures({ rows, pairs }: Rows): number[] {
  return [rows, pairs, 1];
}

/** Fits that take in observations, those before counting `share` each. */
export class Learning<Costs extends Record<string, Fit | undefined>> {
  readonly costs: Costs;
  readonly #share: number;
  readonly #faded = new Set<keyof Costs>();

  constructor(costs: Costs, share: number) {
    this.costs = { ...costs };
    this.#share = share;
  }

  learn(name: keyof Costs, features: readonly number[], ms: number): void {
    const known = this.costs[name];
    const fit = this.#faded.has(name) ? known : faded(known, this.#share);
    this.#faded.add(name);
    this.costs[name] = observed(fit, features, ms) as Costs[typeof name];
  }
}
