import { KvasirError } from '../../../src-shared/errors.ts';
import { DEFAULT_RATIO } from '../../../src-shared/strategy.ts';
import type { Adaptive, DeviationOf } from '../../engine/engine.ts';

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

/** The parameters' names where they were given, for errors: flags, for example. */
export type PartNames = Readonly<Record<keyof StrategyParts, string>>;

export const PART_NAMES: PartNames = {
  ratios: 'ratio',
  cover: 'cover',
  checkLayers: 'check layers',
  questionLayers: 'question layers',
  deviationOf: 'deviation of',
};

/** A strategy's parameters, as given or by default, each validated on access. All methods: BAD_ARGUMENT. */
export class StrategyNumbers {
  /** Layers of the model with their own keys and values. */
  readonly layers: number;
  readonly #given: StrategyParts;
  readonly #names: PartNames;

  constructor(given: StrategyParts, layers: number, names: PartNames) {
    this.#given = given;
    this.layers = layers;
    this.#names = names;
  }

  /** Shares in 0 … 1. */
  get ratios(): number[] {
    const { ratios = [DEFAULT_RATIO] } = this.#given;
    if (!ratios.every(isShare)) throw this.bad('ratios', 'must be between 0 and 1');
    return [...ratios];
  }

  /** The single share, or its adaptive replacement. */
  get budget(): { ratios: [number] } | { adaptive: Adaptive } {
    return this.cover ?? { ratios: this.ratio };
  }

  /** The part to cover instead of a share; undefined when a share is used. */
  get cover(): { adaptive: Adaptive } | undefined {
    const { cover: adaptive, ratios } = this.#given;
    if (adaptive === undefined) return undefined;
    if (ratios !== undefined) throw this.bad('cover', `cannot be combined with ${this.#names.ratios}`);
    const { cover, least, most } = adaptive;
    if (![cover, least, most].every(isShare) || cover === 0 || least > most)
      throw this.bad('cover', 'must be a share, or share,least,most, all between 0 and 1');
    return { adaptive };
  }

  /** The values to compare, if given. */
  get of(): { of?: DeviationOf } {
    const { deviationOf } = this.#given;
    return deviationOf === undefined ? {} : { of: deviationOf };
  }

  /** Ascending layers. */
  layersOf(part: 'checkLayers' | 'questionLayers', byDefault: readonly number[]): number[] {
    const list = this.#given[part] ?? byDefault;
    if (list.some((layer) => !Number.isInteger(layer) || layer < 0 || layer >= this.layers))
      throw this.bad(part, `must be layers from 0 to ${this.layers - 1} for this model`);
    if (!list.every((layer, i) => i === 0 || layer > (list[i - 1] ?? layer)))
      throw this.bad(part, 'must ascend');
    return [...list];
  }

  bad(part: keyof StrategyParts, why: string): KvasirError {
    const given = this.#given[part] ?? DEFAULT_RATIO;
    const value = typeof given === 'object' ? Object.values(given).join(',') : given;
    return new KvasirError('BAD_ARGUMENT', `${this.#names[part]} ${value} ${why}.`, 'See --help.');
  }

  /** The single share of a strategy that selects once. */
  get ratio(): [number] {
    const [ratio, ...more] = this.ratios;
    if (ratio === undefined || more.length > 0)
      throw this.bad('ratios', 'must be one number for this strategy');
    return [ratio];
  }
}

/** BAD_ARGUMENT when a parameter was given that the strategy does not support. */
export function refuseOthers(
  strategy: string,
  given: StrategyParts,
  takes: readonly (keyof StrategyParts)[],
  names: PartNames,
): void {
  const parts = Object.keys(PART_NAMES) as (keyof StrategyParts)[];
  const other = parts.find((part) => given[part] !== undefined && !takes.includes(part));
  if (other === undefined) return;
  const message = `${names[other]} does not apply to the strategy "${strategy}".`;
  throw new KvasirError('BAD_ARGUMENT', message, 'Leave it out, or choose another strategy; see --help.');
}

function isShare(value: number): boolean {
  return value >= 0 && value <= 1;
}
