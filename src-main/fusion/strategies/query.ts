import type { StrategyDefinition } from './definition.ts';

export const query: StrategyDefinition = {
  summary:
    "recompute the share of cached tokens that get most of the question's attention, and correct the rest by the observed change",
  takes: ['ratios', 'cover', 'questionLayers'],
  build: (numbers) => ({
    kind: 'query',
    questionLayers: numbers.layersOf('questionLayers', usualQuestionLayers(numbers.layers)),
    ...numbers.budget,
    shift: STORED_SHIFT,
  }),
};

/** More is better for some models and worse for others (decision 0250). */
const STORED_SHIFT = 0.7;

/** The question's attention differs from layer to layer; this many layers are as informative as all (decision 0249). */
const USUAL = 6;

/** Evenly spaced, ending with the last layer. */
export function usualQuestionLayers(layers: number): number[] {
  const apart = Math.max(1, Math.round(layers / USUAL));
  const count = Math.ceil(layers / apart);
  return Array.from({ length: count }, (_, i) => layers - 1 - (count - 1 - i) * apart);
}
