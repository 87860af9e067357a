import { KvasirError } from '../../src-shared/errors.ts';
import type { Strategy } from '../engine/engine.ts';
import type { StrategyDefinition, StrategyOptions } from './strategies/definition.ts';
import { chunkHead } from './strategies/chunk-head.ts';
import { deviation } from './strategies/deviation.ts';
import { full } from './strategies/full.ts';
import { none } from './strategies/none.ts';
import { query } from './strategies/query.ts';
import { union } from './strategies/union.ts';

export type { StrategyDefinition, StrategyOptions } from './strategies/definition.ts';

/** Every strategy there is; the first is the default where only its numbers are given. A new one is a file in strategies/ and a line here. */
export const STRATEGIES: readonly [StrategyDefinition, ...StrategyDefinition[]] = [
  deviation,
  query,
  union,
  chunkHead,
  none,
  full,
];

/** The engine's strategy for what the user said. BAD_ARGUMENT in one sentence that names the flag. */
export function parseStrategy(options: StrategyOptions, layers: number): Strategy {
  const name = options.strategy ?? STRATEGIES[0].name;
  const definition = STRATEGIES.find((candidate) => candidate.name === name);
  if (definition) return definition.parse(options, layers);
  const names = STRATEGIES.map((candidate) => candidate.name).join(', ');
  throw new KvasirError('BAD_ARGUMENT', `There is no strategy "${name}".`, `Choose one of auto, ${names}.`);
}
