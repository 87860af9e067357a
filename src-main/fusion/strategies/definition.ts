import type { Strategy } from '../../engine/engine.ts';
import type { StrategyNumbers, StrategyParts } from './numbers.ts';

/** A way to select which reusable tokens are recomputed. */
export interface StrategyDefinition {
  /** One sentence for --help. */
  summary: string;
  /** The parameters it supports; any other is rejected. */
  takes: readonly (keyof StrategyParts)[];
  /** The engine's form of it. BAD_ARGUMENT. */
  build(numbers: StrategyNumbers): Strategy;
}
