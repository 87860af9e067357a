import { takesRatio, type StrategyChoice } from '../../src-shared/strategy.ts';
import type { Strategy } from '../engine/engine.ts';
import type { Wish } from './planning/planner.ts';
import { parseStrategy, type StrategyOptions } from './strategy.ts';
import { refuseOthers } from './strategies/numbers.ts';

/** The engine's form of what people choose in the window. BAD_ARGUMENT when the model is too small for it. */
export function engineStrategy({ name, ratio, checkLayers }: StrategyChoice, layers: number): Strategy {
  const numbers = takesRatio(name) && { ratio: String(ratio), checkLayers: checkLayers?.join(',') };
  return parseStrategy({ strategy: name, ...numbers }, layers);
}

/** What flags wish: 'auto', which is the default and takes no numbers, or a strategy. BAD_ARGUMENT names the flag. */
export function parseWish(options: StrategyOptions, layers: number): Wish {
  const { strategy, ratio, cover, checkLayers, questionLayers, deviationOf } = options;
  const numbers = [ratio, cover, checkLayers, questionLayers, deviationOf];
  const silent = strategy === undefined && numbers.every((flag) => flag === undefined);
  if (!silent && strategy !== 'auto') return parseStrategy(options, layers);
  refuseOthers('auto', options);
  return { kind: 'auto' };
}
