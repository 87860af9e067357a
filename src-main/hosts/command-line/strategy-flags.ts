import { InvalidArgumentError, type Command } from 'commander';
import { KvasirError } from '../../../src-shared/errors.ts';
import {
  DEFAULT_RATIO,
  STRATEGY_NAMES,
  NewStrategyRequestSchema,
  StrategyChoiceSchema,
  type StrategyChoice,
  type StrategyRequest,
} from '../../../src-shared/strategy.ts';
import { strategyOrAuto, STRATEGIES, type PartNames, type StrategyParts } from '../../fusion/strategy.ts';

/** The user's strategy flags, all optional. The only grammar for strategies as text. */
export interface StrategyFlags {
  strategy?: string | undefined;
  /** Share of reusable tokens to recompute, one number a check layer, e.g. "0.15" or "0.18,0.12". */
  ratio?: string | undefined;
  /** Share of the total to cover, instead of a ratio, and the ratio's bounds, e.g. "0.6" or "0.6,0.05,0.4". */
  cover?: string | undefined;
  /** Layers after which tokens are selected, e.g. "1" or "1,4". */
  checkLayers?: string | undefined;
  /** Layers whose attention determines the question's focus, e.g. "3,5". */
  questionLayers?: string | undefined;
  /** Tensors compared at check layers: "v", "k" or "kv". */
  deviationOf?: string | undefined;
}

const FLAGS: PartNames = {
  ratios: '--ratio',
  cover: '--cover',
  checkLayers: '--check-layers',
  questionLayers: '--question-layers',
  deviationOf: '--deviation-of',
};

export function addStrategyFlags(command: Command): Command {
  const kinds = STRATEGIES.map(({ name, summary }) => `${name}: ${summary}`).join('; ');
  return command
    .option(
      '--strategy <name>',
      `which cached tokens to recompute (default: auto). auto: what calibrate found and what is fastest here; ${kinds}`,
    )
    .option(
      '--ratio <r>',
      `share of cached tokens to recompute (default: ${DEFAULT_RATIO}); with several check layers the mean, or one for each, falling`,
    )
    .option('--check-layers <l>', 'layers after which tokens are selected, ascending (default: 1)')
    .option(
      '--cover <m>',
      'in place of a ratio: the smallest that covers this share of deviation or attention; "0.6,0.05,0.4" adds bounds',
    )
    .option(
      '--question-layers <l>',
      'layers whose attention tells what the question looks at (default: six, evenly apart)',
    )
    .option('--deviation-of <kv>', 'what check layers compare: v, k or kv (default: v)');
}

/** The strategy from the flags, for a model with `layers` layers; undefined without flags. BAD_ARGUMENT names the flag. */
export function strategyOf(flags: StrategyFlags, layers: number): StrategyRequest | undefined {
  const parts = partsOf(flags);
  if (Object.values({ ...parts, name: flags.strategy }).every((part) => part === undefined)) return undefined;
  const { kind: name } = strategyOrAuto(flags.strategy, parts, layers, FLAGS);
  return NewStrategyRequestSchema.parse({ name, ratio: parts.ratios?.[0], ...parts });
}

/** "deviation,query:0.3": strategies by name, each with a ratio unless it is the default, for commander. */
export function strategyList(words: string): StrategyChoice[] {
  return words.split(',').map((each) => {
    const [name, ratio] = each.trim().split(':');
    const choice = StrategyChoiceSchema.safeParse({
      name,
      ...(ratio !== undefined && { ratio: Number(ratio) }),
    });
    if (choice.success && choice.data.name === name) return choice.data;
    throw new InvalidArgumentError(
      `It must be names of strategies (${STRATEGY_NAMES.join(', ')}), each with a ratio if need be, such as query:0.3.`,
    );
  });
}

function partsOf({ ratio, cover, checkLayers, questionLayers, deviationOf }: StrategyFlags): StrategyParts {
  const list = (flag: string, words: string | undefined) =>
    words === undefined ? undefined : numbersOf(flag, words);
  const [share = 0, least = 0, most = 1, ...more] = list('--cover', cover) ?? [];
  if (more.length > 0) throw badFlag('--cover', cover ?? '', 'must be a share, or share,least,most');
  if (deviationOf !== undefined && deviationOf !== 'v' && deviationOf !== 'k' && deviationOf !== 'kv')
    throw badFlag('--deviation-of', deviationOf, 'must be v, k or kv');
  return {
    ratios: list('--ratio', ratio),
    cover: cover === undefined ? undefined : { cover: share, least, most },
    checkLayers: list('--check-layers', checkLayers),
    questionLayers: list('--question-layers', questionLayers),
    deviationOf,
  };
}

function numbersOf(flag: string, words: string): number[] {
  return words.split(',').map((word) => {
    const number = word.trim() === '' ? Number.NaN : Number(word);
    if (Number.isFinite(number)) return number;
    throw badFlag(flag, words, 'is not a number or a list of numbers such as 0.18,0.12');
  });
}

function badFlag(flag: string, words: string, why: string): KvasirError {
  return new KvasirError('BAD_ARGUMENT', `${flag} ${words} ${why}.`, 'See --help.');
}
