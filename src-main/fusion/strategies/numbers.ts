import { KvasirError } from '../../../src-shared/errors.ts';
import type { Adaptive, DeviationOf } from '../../engine/engine.ts';
import type { StrategyOptions } from './definition.ts';

/** Share of reusable tokens that is recomputed when the user names none. */
export const DEFAULT_RATIO = '0.15';
const DEFAULT_BOUNDS = [0, 1] as const;

type Part = Exclude<keyof StrategyOptions, 'strategy'>;

const FLAGS: Record<Part, string> = {
  ratio: '--ratio',
  cover: '--cover',
  checkLayers: '--check-layers',
  questionLayers: '--question-layers',
  deviationOf: '--deviation-of',
};

/** The numbers of a comma-separated list. BAD_ARGUMENT names the flag. */
export function parseNumbers(flag: string, value: string): number[] {
  return value.split(',').map((part) => {
    const number = part.trim() === '' ? Number.NaN : Number(part);
    if (Number.isFinite(number)) return number;
    throw badFlag(flag, value, 'is not a number or a list of numbers such as 0.18,0.12');
  });
}

/** Shares in 0 … 1, as given or the default. */
export function parseRatios({ ratio = DEFAULT_RATIO }: StrategyOptions): number[] {
  const ratios = parseNumbers('--ratio', ratio);
  if (ratios.some((share) => share < 0 || share > 1))
    throw badFlag('--ratio', ratio, 'must lie within 0 and 1');
  return ratios;
}

/** The one share of a strategy that selects once. */
export function parseRatio(options: StrategyOptions): [number] {
  const [ratio, ...more] = parseRatios(options);
  if (ratio === undefined || more.length > 0)
    throw badFlag('--ratio', options.ratio ?? DEFAULT_RATIO, 'must be one number for this strategy');
  return [ratio];
}

/** A share, or what stands in its place when the user said what to cover. */
export function parseBudget(options: StrategyOptions): { ratios: [number] } | { adaptive: Adaptive } {
  if (options.cover === undefined) return { ratios: parseRatio(options) };
  if (options.ratio !== undefined) throw badFlag('--cover', options.cover, 'cannot go with --ratio');
  const [cover = 0, least = DEFAULT_BOUNDS[0], most = DEFAULT_BOUNDS[1], ...more] = parseNumbers(
    '--cover',
    options.cover,
  );
  if ([cover, least, most].some((share) => share < 0 || share > 1) || cover === 0 || least > most || more[0])
    throw badFlag('--cover', options.cover, 'must be a share, or share,least,most, all within 0 and 1');
  return { adaptive: { cover, least, most } };
}

/** Ascending layers of the model, as given or the default. */
export function parseLayers(
  part: 'checkLayers' | 'questionLayers',
  options: StrategyOptions,
  layers: number,
  byDefault: string,
): number[] {
  const value = options[part] ?? byDefault;
  const list = parseNumbers(FLAGS[part], value);
  if (list.some((layer) => !Number.isInteger(layer) || layer < 0 || layer >= layers)) {
    const why = `must name layers from 0 to ${layers - 1}, as this model has ${layers}`;
    throw badFlag(FLAGS[part], value, why);
  }
  if (list.some((layer, i) => i > 0 && layer <= (list[i - 1] ?? layer)))
    throw badFlag(FLAGS[part], value, 'must ascend');
  return list;
}

/** What is compared, when the user said so. */
export function parseDeviationOf({ deviationOf }: StrategyOptions): { of?: DeviationOf } {
  if (deviationOf === undefined) return {};
  if (deviationOf !== 'v' && deviationOf !== 'k' && deviationOf !== 'kv')
    throw badFlag('--deviation-of', deviationOf, 'must be v, k or kv');
  return { of: deviationOf };
}

/** BAD_ARGUMENT when a flag was given that the strategy does not know. */
export function refuseOthers(strategy: string, options: StrategyOptions, known: readonly Part[] = []): void {
  const parts = Object.keys(FLAGS) as Part[];
  const part = parts.find((candidate) => options[candidate] !== undefined && !known.includes(candidate));
  if (!part) return;
  const advice = 'Leave it out, or choose another strategy; see --help.';
  throw new KvasirError(
    'BAD_ARGUMENT',
    `${FLAGS[part]} does not apply to the strategy "${strategy}".`,
    advice,
  );
}

export function badFlag(flag: string, value: string, why: string): KvasirError {
  return new KvasirError('BAD_ARGUMENT', `${flag} ${value} ${why}.`, 'See --help.');
}
