import type { StrategyDefinition } from './definition.ts';
import { DEFAULT_CHECK_LAYER } from './deviation.ts';
import { usualQuestionLayers } from './query.ts';

export const union: StrategyDefinition = {
  summary: "recompute by deviation and by the question's attention together, within one share",
  takes: ['ratios', 'cover', 'checkLayers', 'questionLayers', 'deviationOf'],
  build(numbers) {
    const [checkLayer = 0, ...more] = numbers.layersOf('checkLayers', [DEFAULT_CHECK_LAYER]);
    if (more.length > 0) throw numbers.bad('checkLayers', 'must name one layer');
    return {
      kind: 'union',
      checkLayers: [checkLayer],
      questionLayers: numbers.layersOf('questionLayers', usualQuestionLayers(numbers.layers)),
      ...numbers.budget,
      ...numbers.of,
    };
  },
};
