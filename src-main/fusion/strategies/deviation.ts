import type { StrategyDefinition, StrategyOptions } from './definition.ts';
import {
  badFlag,
  DEFAULT_RATIO,
  parseBudget,
  parseDeviationOf,
  parseLayers,
  parseRatios,
  refuseOthers,
} from './numbers.ts';

/** The first layer whose values know of other chunks; comparing later costs more and finds much the same tokens. */
export const DEFAULT_CHECK_LAYER = '1';

/** CacheBlend's selection; several check layers with falling ratios are its gradual filtering. */
export const deviation: StrategyDefinition = {
  name: 'deviation',
  summary: 'recompute the share of cached tokens whose values deviate most at the check layers (CacheBlend)',
  parse(options, layers) {
    refuseOthers('deviation', options, ['ratio', 'cover', 'checkLayers', 'deviationOf']);
    const checkLayers = parseLayers('checkLayers', options, layers, DEFAULT_CHECK_LAYER);
    const of = parseDeviationOf(options);
    const [first, ...more] = checkLayers;
    if (options.cover !== undefined && first !== undefined) {
      if (more.length > 0) throw badFlag('--cover', options.cover, 'takes one check layer');
      const budget = parseBudget(options);
      if ('adaptive' in budget) return { kind: 'deviation', checkLayers: [first], ...budget, ...of };
    }
    return { kind: 'deviation', checkLayers, ratios: fallingRatios(options, checkLayers.length), ...of };
  },
};

function fallingRatios(options: StrategyOptions, checks: number): number[] {
  const ratios = parseRatios(options);
  const said = options.ratio ?? DEFAULT_RATIO;
  if (ratios.some((ratio, i) => i > 0 && ratio >= (ratios[i - 1] ?? ratio)))
    throw badFlag('--ratio', said, 'must fall from one check layer to the next');
  if (ratios.length !== checks)
    throw badFlag('--ratio', said, `has ${ratios.length} number(s) for ${checks} check layer(s)`);
  return ratios;
}
