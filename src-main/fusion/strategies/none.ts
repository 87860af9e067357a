import type { StrategyDefinition } from './definition.ts';

export const none: StrategyDefinition = {
  summary: 'reuse every cached token unchanged: fastest, but ignores the text of other chunks',
  takes: [],
  build: () => ({ kind: 'none' }),
};
