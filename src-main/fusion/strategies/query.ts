import type { StrategyDefinition } from './definition.ts';
import { parseBudget, parseLayers, refuseOthers } from './numbers.ts';

export const query: StrategyDefinition = {
  name: 'query',
  summary: "recompute the share of cached tokens that the question's attention weighs most",
  parse(options, layers) {
    refuseOthers('query', options, ['ratio', 'cover', 'questionLayers']);
    const questionLayers = parseLayers('questionLayers', options, layers, defaultQuestionLayers(layers));
    return { kind: 'query', questionLayers, ...parseBudget(options) };
  },
};

/** One layer in the middle: the question's pass goes no further than the last layer named, and must be paid for. */
export function defaultQuestionLayers(layers: number): string {
  return String(Math.floor(layers / 2));
}
