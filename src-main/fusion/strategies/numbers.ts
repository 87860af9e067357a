import { KvasirError } from '../../../src-shared/errors.ts';
import type { StrategyOptions } from './definition.ts';

/** The numbers of a comma-separated list. BAD_ARGUMENT names the flag. */
export function parseNumbers(flag: string, value: string): number[] {
  return value.split(',').map((part) => {
    const number = part.trim() === '' ? Number.NaN : Number(part);
    if (Number.isFinite(number)) return number;
    throw badFlag(flag, value, 'is not a number or a list of numbers such as 0.18,0.12');
  });
}

/** BAD_ARGUMENT when a flag was given that the strategy does not know. */
export function refuseNumbers(strategy: string, options: StrategyOptions): void {
  const flag =
    options.ratio !== undefined
      ? '--ratio'
      : options.checkLayers !== undefined
        ? '--check-layers'
        : undefined;
  if (flag) {
    const advice = 'Leave it out, or use --strategy deviation.';
    throw new KvasirError('BAD_ARGUMENT', `${flag} does not apply to the strategy "${strategy}".`, advice);
  }
}

export function badFlag(flag: string, value: string, why: string): KvasirError {
  return new KvasirError('BAD_ARGUMENT', `${flag} ${value} ${why}.`, 'See --help.');
}
