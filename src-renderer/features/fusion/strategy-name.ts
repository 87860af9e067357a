import type { StrategyChoice } from '../../../src-shared/strategy.ts';
import { atLayers } from '../../ui/at-layers.ts';
import type { Words } from './useWords.ts';

/** A strategy in words: its ratio where it takes one, then its layers where they are not the usual ones. */
export function strategyName({ name, ratio, ...layers }: StrategyChoice, { t, share }: Words): string {
  const plain = t(`strategies:${name}.name`);
  if (name === 'none' || name === 'full') return plain;
  return atLayers(t('plan.at', { name: plain, ratio: share(ratio) }), layers, t);
}
