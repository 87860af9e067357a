import type { StrategyDefinition } from './definition.ts';

export const none: StrategyDefinition = {
  summary: 'reuse every cached token as it is: fastest, and blind to what stands in other chunks',
  takes: [],
  build: () => ({ kind: 'none' }),
};
