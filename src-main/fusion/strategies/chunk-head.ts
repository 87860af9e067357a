import type { StrategyDefinition } from './definition.ts';
import { parseRatio, refuseOthers } from './numbers.ts';

export const chunkHead: StrategyDefinition = {
  name: 'chunk-head',
  summary: 'recompute the first tokens of every chunk, the same share of each (EPIC)',
  parse(options) {
    refuseOthers('chunk-head', options, ['ratio']);
    return { kind: 'chunk-head', ratios: parseRatio(options) };
  },
};
