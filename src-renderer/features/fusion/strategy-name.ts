import type { StrategyChoice } from '../../../src-shared/strategy.ts';
import type { Words } from './useWords.ts';

/** A strategy in words: its ratio where it takes one, then its checks where they are not the usual ones. */
export function strategyName({ name, ratio, checkLayers }: StrategyChoice, { t, share }: Words): string {
  const plain = t(`strategies:${name}.name`);
  if (name === 'none' || name === 'full') return plain;
  const strategy = t('plan.at', { name: plain, ratio: share(ratio) });
  return checkLayers
    ? t('strategies:checked', {
        strategy,
        layers: checkLayers.join(t('strategies:separator')),
        count: checkLayers.length,
      })
    : strategy;
}
