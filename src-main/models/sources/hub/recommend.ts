import type { MemoryFit } from '../../../../src-shared/contract/models.ts';
import type { HubFile } from '../../../../src-shared/contract/hub.ts';

/** The usual choice: much smaller than eight bits, and little worse. */
const USUAL = 'Q4_K_M';
/** More than eight bits cost memory and time and hardly improve results. */
const TOO_EXACT = /^(BF16|F16|F32)$/;

/**
 * The recommended quantisation and the reason: the largest that fits well, of at most eight bits; if none fits well,
 * the smallest that fits at all; if nothing is known about the model, the usual one. `files` are sorted from small to
 * large.
 */
export function recommended(
  files: readonly { quantization: string; fit: Pick<MemoryFit, 'verdict'> | null }[],
): { index: number; why: NonNullable<HubFile['recommended']> } | undefined {
  const usual = files.findIndex(({ quantization }) => quantization === USUAL);
  if (files.every(({ fit }) => fit === null)) return usual < 0 ? undefined : { index: usual, why: 'usual' };
  const fits = (verdict: MemoryFit['verdict']) => (file: (typeof files)[number]) =>
    file.fit?.verdict === verdict;
  const largest = files.findLastIndex((file) => fits('fits')(file) && !TOO_EXACT.test(file.quantization));
  if (largest >= 0) return { index: largest, why: 'largest' };
  const smallest = files.findIndex((file) => fits('fits')(file) || fits('tight')(file));
  return smallest < 0 ? undefined : { index: smallest, why: 'smallest' };
}
