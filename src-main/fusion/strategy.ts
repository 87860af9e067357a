import { KvasirError } from '../../src-shared/errors.ts';
import {
  isStrategyName,
  STRATEGY_NAMES,
  takesRatio,
  type StrategyChoice,
  type StrategyName,
  type StrategyRequest,
} from '../../src-shared/strategy.ts';
import type { Strategy } from '../engine/engine.ts';
import type { StrategyDefinition } from './strategies/definition.ts';
import { deviation } from './strategies/deviation.ts';
import { full } from './strategies/full.ts';
import { none } from './strategies/none.ts';
import {
  PART_NAMES,
  refuseOthers,
  StrategyNumbers,
  type PartNames,
  type StrategyParts,
} from './strategies/numbers.ts';
import { query } from './strategies/query.ts';

export type { PartNames, StrategyParts } from './strategies/numbers.ts';

/** All strategies. To add one, add a file to strategies/ and a line here. */
const DEFINITIONS: Record<StrategyName, StrategyDefinition> = {
  deviation,
  query,
  none,
  full,
};

/** The same, in their order. */
export const STRATEGIES = STRATEGY_NAMES.map((name) => ({ name, ...DEFINITIONS[name] }));

/** How to process a prompt: a fixed strategy, or the controller's choice. */
export type StrategyOrAuto = Strategy | { kind: 'auto' };

/**
 * The engine's strategy with this name and parameters, for a model with this many layers. BAD_ARGUMENT names the parameter, as in `names`.
 */
export function buildStrategy(
  name: string,
  parts: StrategyParts,
  layers: number,
  names: PartNames = PART_NAMES,
): Strategy {
  if (isStrategyName(name)) {
    const definition = DEFINITIONS[name];
    refuseOthers(name, parts, definition.takes, names);
    return definition.build(new StrategyNumbers(parts, layers, names));
  }
  const known = STRATEGY_NAMES.join(', ');
  throw new KvasirError('BAD_ARGUMENT', `There is no strategy "${name}".`, `Choose one of auto, ${known}.`);
}

/** As buildStrategy; also 'auto', the default, which takes no parameters. */
export function strategyOrAuto(
  name: string | undefined,
  parts: StrategyParts,
  layers: number,
  names: PartNames = PART_NAMES,
): StrategyOrAuto {
  const silent = name === undefined && Object.values(parts).every((part) => part === undefined);
  if (!silent && name !== 'auto') return buildStrategy(name ?? takerOf(parts), parts, layers, names);
  refuseOthers('auto', parts, [], names);
  return { kind: 'auto' };
}

/** The first strategy that supports all given parameters. */
function takerOf(parts: StrategyParts): StrategyName {
  const given = (Object.keys(parts) as (keyof StrategyParts)[]).filter((part) => parts[part] !== undefined);
  return (
    STRATEGIES.find(({ takes }) => given.every((part) => takes.includes(part)))?.name ?? STRATEGY_NAMES[0]
  );
}

/** The engine's form of a requested strategy other than 'auto'. BAD_ARGUMENT when the model is too small for it. */
export function engineStrategy(
  { name, ratio, ...parts }: StrategyChoice & Omit<StrategyRequest, 'name'>,
  layers: number,
): Strategy {
  const ratios = parts.ratios ?? (parts.cover ? undefined : [ratio]);
  return buildStrategy(name, takesRatio(name) ? { ...parts, ratios } : {}, layers);
}
