import type { StrategyDefinition } from './definition.ts';

export const query: StrategyDefinition = {
  summary: "recompute the share of cached tokens that the question's attention weighs most",
  takes: ['ratios', 'cover', 'questionLayers'],
  build: (numbers) => ({
    kind: 'query',
    questionLayers: numbers.layersOf('questionLayers', usualQuestionLayers(numbers.layers)),
    ...numbers.budget,
  }),
};

/** All: what a question looks at differs from layer to layer, and its pass is a few dozen tokens (decision 0249). */
export function usualQuestionLayers(layers: number): number[] {
  return [...Array(layers).keys()];
}
