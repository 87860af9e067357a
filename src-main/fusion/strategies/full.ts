import type { StrategyDefinition } from './definition.ts';

export const full: StrategyDefinition = {
  summary: 'compute every token: the full prefill, the baseline for blending',
  takes: [],
  build: () => ({ kind: 'full' }),
};
