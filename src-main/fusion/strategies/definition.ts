import type { Adaptive, DeviationOf, Strategy } from '../../engine/engine.ts';
import type { StrategyNumbers } from './numbers.ts';

/** Parameters of a strategy besides its name; each may be absent. */
export interface StrategyParts {
  /** Shares of reusable tokens to recompute, in 0 … 1: one, or one for each check layer, descending. */
  ratios?: readonly number[] | undefined;
  /** Instead of a share: the smallest share whose tokens cover this part of all deviation (or attention), within bounds. */
  cover?: Adaptive | undefined;
  /** Layers after which tokens are selected, ascending. */
  checkLayers?: readonly number[] | undefined;
  /** Layers whose attention counts as the question's, ascending. */
  questionLayers?: readonly number[] | undefined;
  /** The values compared at check layers. */
  deviationOf?: DeviationOf | undefined;
}

/** A way to select which reusable tokens are recomputed. */
export interface StrategyDefinition {
  /** One sentence for --help. */
  summary: string;
  /** The parameters it supports; any other is rejected. */
  takes: readonly (keyof StrategyParts)[];
  /** The engine's form of it. BAD_ARGUMENT. */
  build(numbers: StrategyNumbers): Strategy;
}
