import type { StrategyDefinition } from './definition.ts';
import { refuseOthers } from './numbers.ts';

export const none: StrategyDefinition = {
  name: 'none',
  summary: 'reuse every cached token as it is: fastest, and blind to what stands in other chunks',
  parse(options) {
    refuseOthers('none', options);
    return { kind: 'none' };
  },
};
