import type { StrategyDefinition } from './definition.ts';

export const none: StrategyDefinition = {
  name: 'none',
  summary: 'reuse every cached token as it is: fastest, and blind to what stands in other chunks',
  takes: [],
  build: () => ({ kind: 'none' }),
};
