import type { StrategyDefinition } from './definition.ts';

export const full: StrategyDefinition = {
  summary: 'compute every token anew: the full prefill that blending is measured against',
  takes: [],
  build: () => ({ kind: 'full' }),
};
