import type { BudgetProposal } from '../../src-shared/contract/cache.ts';
import type { DiskSpace } from '../platform/space.ts';

/** Bytes of the disk budget until somebody sets one. */
export const DEFAULT_DISK_BUDGET = 20 * 2 ** 30;

/** Of the space that is free or that the cache already takes: the larger part stays for other data. */
const SHARE = 0.25;
/** With less, questions find too little: an 8B model's KV of 15,000 tokens (131 kB per token in f16). */
const LEAST_BYTES = 2e9;
/** 1.5 million tokens of such a model, some thousands of pages: a larger budget is a person's decision. */
const MOST_BYTES = 200e9;
const STEP_BYTES = 1e9;

/** The disk budget to propose: it stays the same while the cache grows. `held`: bytes of the cache. */
export function proposeBudget(space: DiskSpace | undefined, held: number): BudgetProposal {
  if (!space) return { obstacle: 'unknown-space' };
  const bytes = Math.floor(((space.free + held) * SHARE) / STEP_BYTES) * STEP_BYTES;
  return bytes < LEAST_BYTES ? { obstacle: 'small-disk' } : { bytes: Math.min(MOST_BYTES, bytes) };
}
