import type { StrategyDefinition } from './definition.ts';

export const chunkHead: StrategyDefinition = {
  summary: 'recompute the first tokens of every chunk, the same share of each (EPIC)',
  takes: ['ratios'],
  build: (numbers) => ({ kind: 'chunk-head', ratios: numbers.ratio }),
};
