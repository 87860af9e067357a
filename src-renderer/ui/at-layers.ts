import type { StrategyLayers } from '../../src-shared/strategy.ts';

interface LayerTranslator {
  (
    key: 'strategies:checked' | 'strategies:asked',
    words: { strategy: string; layers: string; count: number },
  ): string;
  (key: 'strategies:separator'): string;
}

/** A strategy's name, with its layers if they differ from the default. */
export function atLayers(
  strategy: string,
  { checkLayers, questionLayers }: StrategyLayers,
  t: LayerTranslator,
): string {
  const add = (
    name: string,
    key: 'strategies:checked' | 'strategies:asked',
    layers: readonly number[] | undefined,
  ): string =>
    layers
      ? t(key, { strategy: name, layers: layers.join(t('strategies:separator')), count: layers.length })
      : name;
  return add(add(strategy, 'strategies:checked', checkLayers), 'strategies:asked', questionLayers);
}
