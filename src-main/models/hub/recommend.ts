import type { Fit } from '../../../src-shared/contract/models.ts';
import type { HubFile } from '../../../src-shared/contract/hub.ts';

/** What most people use: a good deal smaller than eight bits, and little worse. */
const USUAL = 'Q4_K_M';
/** More bits than eight cost memory and time, and change next to nothing. */
const TOO_EXACT = /^(BF16|F16|F32)$/;

/**
 * Which quantisation to take, and why: the largest that fits well, of eight bits at most; where none fits well, the smallest that
 * fits at all; where nothing is known of the model, the usual one. `files` go from small to large.
 */
export function recommended(
  files: readonly { quantization: string; fit: Pick<Fit, 'verdict'> | null }[],
): { index: number; why: NonNullable<HubFile['recommended']> } | undefined {
  const usual = files.findIndex(({ quantization }) => quantization === USUAL);
  if (files.every(({ fit }) => fit === null)) return usual < 0 ? undefined : { index: usual, why: 'usual' };
  const fits = (verdict: Fit['verdict']) => (file: (typeof files)[number]) => file.fit?.verdict === verdict;
  const largest = files.findLastIndex((file) => fits('fits')(file) && !TOO_EXACT.test(file.quantization));
  if (largest >= 0) return { index: largest, why: 'largest' };
  const smallest = files.findIndex((file) => fits('fits')(file) || fits('tight')(file));
  return smallest < 0 ? undefined : { index: smallest, why: 'smallest' };
}
