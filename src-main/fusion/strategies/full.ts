import type { StrategyDefinition } from './definition.ts';
import { refuseOthers } from './numbers.ts';

export const full: StrategyDefinition = {
  name: 'full',
  summary: 'compute every token anew: the full prefill that blending is measured against',
  parse(options) {
    refuseOthers('full', options);
    return { kind: 'full' };
  },
};
