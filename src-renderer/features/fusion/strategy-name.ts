import type { StrategyChoice } from '../../../src-shared/strategy.ts';
import { atLayers } from '../../ui/at-layers.ts';
import type { Words } from './useWords.ts';

/** The name of a strategy, with its ratio if it has one, and its layers if they differ from the default. */
export function strategyName({ name, ratio, ...layers }: StrategyChoice, { t, share }: Words): string {
  const plain = t(`strategies:${name}.name`);
  if (name === 'none' || name === 'full') return plain;
  return atLayers(t('plan.at', { name: plain, ratio: share(ratio) }), layers, t);
}
