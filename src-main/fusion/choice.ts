import type { StrategyChoice } from '../../src-shared/strategy.ts';
import type { Strategy } from '../engine/engine.ts';
import { parseStrategy } from './strategy.ts';

/** The engine's form of what people choose in the window. BAD_ARGUMENT when the model is too small for it. */
export function engineStrategy({ name, ratio }: StrategyChoice, layers: number): Strategy {
  const takesRatio = name !== 'none' && name !== 'full';
  return parseStrategy({ strategy: name, ...(takesRatio && { ratio: String(ratio) }) }, layers);
}
