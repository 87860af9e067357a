import type { Strategy } from '../../engine/engine.ts';

/** What a user said about how to fuse; every part may be absent. */
export interface StrategyOptions {
  /** Name of a strategy. */
  strategy?: string | undefined;
  /** Share of reusable tokens to recompute, one number a check layer, e.g. "0.15" or "0.18,0.12". */
  ratio?: string | undefined;
  /**
   * Instead of a ratio: the smallest one whose tokens hold this part of all deviation (or attention), and the bounds it
   * stays within, e.g. "0.6" or "0.6,0.05,0.4".
   */
  cover?: string | undefined;
  /** Layers after which tokens are selected, e.g. "1" or "1,4". */
  checkLayers?: string | undefined;
  /** Layers whose attention counts as what the question looks at, e.g. "3,5". */
  questionLayers?: string | undefined;
  /** What is compared at check layers: "v", "k" or "kv". */
  deviationOf?: string | undefined;
}

/** A way to choose which reusable tokens are computed anew. */
export interface StrategyDefinition {
  name: string;
  /** One sentence for --help. */
  summary: string;
  /** Checks what the user said against the model's number of layers. BAD_ARGUMENT. */
  parse(options: StrategyOptions, layers: number): Strategy;
}
