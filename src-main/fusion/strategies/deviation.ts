import type { StrategyDefinition } from './definition.ts';
import type { StrategyNumbers } from './numbers.ts';

/** The first layer whose values are affected by other chunks; comparing later costs more and finds much the same tokens. */
export const DEFAULT_CHECK_LAYER = 1;

/** CacheBlend's selection; several check layers with falling ratios are its gradual filtering. */
export const deviation: StrategyDefinition = {
  summary: 'recompute the share of cached tokens whose values deviate most at the check layers (CacheBlend)',
  takes: ['ratios', 'cover', 'checkLayers', 'deviationOf'],
  build(numbers) {
    const checkLayers = numbers.layersOf('checkLayers', [DEFAULT_CHECK_LAYER]);
    const { cover, of } = numbers;
    if (!cover) return { kind: 'deviation', checkLayers, ratios: ratiosOf(numbers, checkLayers), ...of };
    const [first, ...more] = checkLayers;
    if (first === undefined || more.length > 0) throw numbers.bad('cover', 'takes one check layer');
    return { kind: 'deviation', checkLayers: [first], ...cover, ...of };
  },
};

/** How far the first ratio of gradual filtering is above the mean, and the last below it. */
const GRADUAL_SPREAD = 0.2;

/**
 * Ratios for gradual filtering (CacheBlend §4.3): the first slightly above `mean`, then descending, so that the layers from the first check
 * on recompute `mean` of the tokens on average. All are 1 if the mean is.
 */
function gradualRatios(mean: number, checkLayers: readonly number[], layers: number): number[] {
  const spread = Math.min(GRADUAL_SPREAD, (1 - mean) / (1 + mean)); // so that none exceeds 1
  const last = Math.max(1, checkLayers.length - 1);
  const shares = checkLayers.map((_, i) => 1 + spread * (1 - (2 * i) / last));
  const spans = checkLayers.map((layer, i) => (checkLayers[i + 1] ?? layers) - layer);
  const all = spans.reduce((sum, span) => sum + span, 0);
  const weighted = shares.reduce((sum, share, i) => sum + share * (spans[i] ?? 0), 0) / all;
  return shares.map((share) => Math.min(1, (mean * share) / weighted));
}

function ratiosOf(numbers: StrategyNumbers, checkLayers: readonly number[]): number[] {
  const { ratios } = numbers;
  const [only, ...others] = ratios;
  const checks = checkLayers.length;
  if (only !== undefined && others.length === 0 && checks > 1)
    return gradualRatios(only, checkLayers, numbers.layers);
  if (ratios.some((ratio, i) => i > 0 && ratio >= (ratios[i - 1] ?? ratio)))
    throw numbers.bad('ratios', 'must decrease from one check layer to the next');
  if (ratios.length !== checks)
    throw numbers.bad('ratios', `has ${ratios.length} number(s) for ${checks} check layer(s)`);
  return ratios;
}
