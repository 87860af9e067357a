import { z } from 'zod';
import { LinearFitSchema, withWeight, withObservation, predicted, type LinearFit } from './fit.ts';
import type { Layout, Rows } from './work.ts';

/**
 * The cost of computing with one model on one device. Features are in brackets, the most significant first: while the data cannot
 * distinguish them, earlier ones win. Every fit is in milliseconds.
 */
export const ComputeCostsSchema = z
  .object({
    /** A layer [rows, pairs of a row and a token it sees, 1]. */
    layer: LinearFitSchema,
    /** Keys and values alone [rows, 1]. */
    keys: LinearFitSchema,
    /** Selecting tokens at checks [reusable tokens · checks, checks]. */
    select: LinearFitSchema,
    /** Rotating stored keys to their positions [tokens · layers, layers]. */
    place: LinearFitSchema,
    /** The question's separate pass [its layers at their usual cost, tokens it can see · layers whose attention is examined]. */
    question: LinearFitSchema,
    /** From the last layer to the logits, and everything else in an append [1, tokens]. */
    rest: LinearFitSchema,
  })
  .partial();
export type ComputeCosts = z.infer<typeof ComputeCostsSchema>;

/** The cost of loading stored KV, by tier. */
export const TierCostsSchema = z
  .object({
    /** One layer of all files [bytes, files]; for a streamed tier, all layers of all values [bytes, values]. */
    load: LinearFitSchema,
    /** Looking up and opening [files; those that are opened in parallel count as one]. */
    open: LinearFitSchema,
  })
  .partial();
export type TierCosts = z.infer<typeof TierCostsSchema>;

/** Milliseconds of one layer; undefined while unknown. */
export function layerMs(costs: ComputeCosts, rows: Rows): number | undefined {
  return rows.rows === 0 ? 0 : predicted(costs.layer, layerFeatures(rows));
}

/** Keys and values of some rows: as observed, else at most the time of the layer. */
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

/** Fits that take in observations; earlier ones are weighted by `share` each time. */
export class CostLearner<Costs extends Record<string, LinearFit | undefined>> {
  readonly costs: Costs;
  readonly #share: number;
  readonly #faded = new Set<keyof Costs>();

  constructor(costs: Costs, share: number) {
    this.costs = { ...costs };
    this.#share = share;
  }

  learn(name: keyof Costs, features: readonly number[], ms: number): void {
    const known = this.costs[name];
    const fit = this.#faded.has(name) ? known : withWeight(known, this.#share);
    this.#faded.add(name);
    this.costs[name] = withObservation(fit, features, ms) as Costs[typeof name];
  }
}
