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

/** All layers of the second quarter. */
export function defaultQuestionLayers(layers: number): string {
  const first = Math.floor(layers / 4);
  const last = Math.max(first, Math.ceil(layers / 2) - 1);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i).join(',');
}
