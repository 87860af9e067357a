import type { Adaptive, DeviationOf, Strategy } from '../../engine/engine.ts';
import type { StrategyNumbers } from './numbers.ts';

/** What a strategy may be told beside its name; every part may be absent. */
export interface StrategyParts {
  /** Shares of reusable tokens to recompute, in 0 … 1: one, or one for each check layer, falling. */
  ratios?: readonly number[] | undefined;
  /** Instead of a share: the smallest one whose tokens hold this part of all deviation (or attention), within bounds. */
  cover?: Adaptive | undefined;
  /** Layers after which tokens are selected, ascending. */
  checkLayers?: readonly number[] | undefined;
  /** Layers whose attention counts as what the question looks at, ascending. */
  questionLayers?: readonly number[] | undefined;
  /** What is compared at check layers. */
  deviationOf?: DeviationOf | undefined;
}

/** A way to choose which reusable tokens are computed anew. */
export interface StrategyDefinition {
  /** One sentence for --help. */
  summary: string;
  /** The parts that mean something for it; any other is refused. */
  takes: readonly (keyof StrategyParts)[];
  /** The engine's form of it. BAD_ARGUMENT. */
  build(numbers: StrategyNumbers): Strategy;
}
