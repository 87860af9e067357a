/** Runs of the sensitivity matrix: each changes one parameter. Passages are encoded alone, as in CacheBlend. */
import type { Arrangement } from './sets.ts';
import type { PromptOptions } from './prompt.ts';

export interface MatrixOptions extends Arrangement, PromptOptions {
  ratios: readonly number[];
  /** Pattern of method labels to run besides the full prefill. */
  only: string;
}

const BASE: MatrixOptions = {
  ratios: [0.15],
  only: '^(full|prefix|default|auto|random|deviation|query)',
  dtype: 'f16',
  lead: 'none',
  chunkTokens: 0,
};
const RATIOS = [0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 1];
export const PASSAGES = [3, 6, 12, 24];
export const LENGTHS = [64, 128, 256, 512, 1024];

/** By name, in run order. */
export function matrix(): [string, MatrixOptions][] {
  return [
    ['ratios', { ...BASE, ratios: RATIOS, only: '^(full|first|random|deviation|query)' }],
    ...PASSAGES.map((passages): [string, MatrixOptions] => [`passages ${passages}`, { ...BASE, passages }]),
    ...LENGTHS.map((chunkTokens): [string, MatrixOptions] => [
      `length ${chunkTokens}`,
      { ...BASE, chunkTokens },
    ]),
    ['behind headings', { ...BASE, lead: 'headings' }],
    ['order shuffled', { ...BASE, shuffled: true }],
    ['number format q8_0', { ...BASE, dtype: 'q8_0' }],
  ];
}
