import type { StrategyDefinition } from './definition.ts';
import { DEFAULT_CHECK_LAYER } from './deviation.ts';
import { badFlag, parseBudget, parseDeviationOf, parseLayers, refuseOthers } from './numbers.ts';
import { defaultQuestionLayers } from './query.ts';

export const union: StrategyDefinition = {
  name: 'union',
  summary: "recompute by deviation and by the question's attention together, within one share",
  parse(options, layers) {
    const [checkLayer = 0, ...more] = parseLayers('checkLayers', options, layers, DEFAULT_CHECK_LAYER);
    refuseOthers('union', options, ['ratio', 'cover', 'checkLayers', 'questionLayers', 'deviationOf']);
    if (more.length > 0) throw badFlag('--check-layers', options.checkLayers ?? '', 'must name one layer');
    return {
      kind: 'union',
      checkLayers: [checkLayer],
      questionLayers: parseLayers('questionLayers', options, layers, defaultQuestionLayers(layers)),
      ...parseBudget(options),
      ...parseDeviationOf(options),
    };
  },
};
