import type { StrategyDefinition } from './definition.ts';

export const query: StrategyDefinition = {
  summary: "recompute the share of cached tokens that the question's attention weighs most",
  takes: ['ratios', 'cover', 'questionLayers'],
  build: (numbers) => ({
    kind: 'query',
    questionLayers: numbers.layersOf('questionLayers', defaultQuestionLayer(numbers.layers)),
    ...numbers.budget,
  }),
};

/** One layer in the middle: the question's pass goes no further than the last layer named, and must be paid for. */
export function defaultQuestionLayer(layers: number): number {
  return Math.floor(layers / 2);
}
