import type { StrategyDefinition, StrategyOptions } from './definition.ts';
import { badFlag, parseNumbers } from './numbers.ts';

const DEFAULT_RATIO = '0.15';
const DEFAULT_CHECK_LAYERS = '1';

/** CacheBlend's selection; several check layers with falling ratios are its gradual filtering. */
export const deviation: StrategyDefinition = {
  name: 'deviation',
  summary: 'recompute the share of cached tokens whose values deviate most at the check layers (CacheBlend)',
  parse(options, layers) {
    const ratios = parseRatios(options);
    const checkLayers = parseLayers(options, layers);
    if (ratios.length !== checkLayers.length) {
      const value = options.ratio ?? DEFAULT_RATIO;
      throw badFlag(
        '--ratio',
        value,
        `has ${ratios.length} number(s) for ${checkLayers.length} check layer(s)`,
      );
    }
    return { kind: 'deviation', checkLayers, ratios };
  },
};

function parseRatios({ ratio = DEFAULT_RATIO }: StrategyOptions): number[] {
  const ratios = parseNumbers('--ratio', ratio);
  if (ratios.some((share) => share < 0 || share > 1))
    throw badFlag('--ratio', ratio, 'must lie within 0 and 1');
  if (!isSorted(ratios, (before, after) => before > after)) {
    throw badFlag('--ratio', ratio, 'must fall from one check layer to the next');
  }
  return ratios;
}

function parseLayers({ checkLayers = DEFAULT_CHECK_LAYERS }: StrategyOptions, layers: number): number[] {
  const list = parseNumbers('--check-layers', checkLayers);
  if (list.some((layer) => !Number.isInteger(layer) || layer < 0 || layer >= layers)) {
    throw badFlag(
      '--check-layers',
      checkLayers,
      `must name layers from 0 to ${layers - 1}, as this model has ${layers}`,
    );
  }
  if (!isSorted(list, (before, after) => before < after))
    throw badFlag('--check-layers', checkLayers, 'must ascend');
  return list;
}

function isSorted(values: readonly number[], inOrder: (before: number, after: number) => boolean): boolean {
  return values.every((value, i) => i === 0 || inOrder(values[i - 1] ?? value, value));
}
