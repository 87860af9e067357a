import type { PlacementReason } from '../../../src-shared/contract/cache.ts';
import type { Strategy } from '../../engine/engine.ts';
import type { CostModel, Subject } from './cost-model.ts';
import { fileTier, type Work } from './work.ts';

/** A folder that chunks can be stored in. */
export interface FolderCost {
  /** '' for the store's own. */
  id: string;
  /** In any currency; absent: unknown, which counts as more than any known price. */
  pricePerGb?: number | undefined;
  /** T_load: milliseconds to read the chunks of a usual prompt; null before it was measured. */
  loadMs: number | null;
}

interface PlacedFolder extends FolderCost {
  /** Whether reading takes longer than what it can hide behind. */
  addsDelay: boolean;
}

/** Where new chunks are stored, and why. */
export interface Placement {
  /** The one for new chunks first; then those for what has no room there. */
  folders: PlacedFolder[];
  reason: PlacementReason;
  /** T_recompute: milliseconds that a usual prompt computes at the ratio in use; null before it was measured. */
  computeMs: number | null;
}

/**
 * Ranks folders for new chunks (CacheBlend §5.2): first those with T_load ≤ T_recompute, which add no delay, cheapest
 * first; then the others, fastest first. On ties the earlier one. Before a measurement, the store's own comes first.
 */
export function placeChunks(folders: readonly FolderCost[], computeMs: number | null): Placement {
  const placed = folders.map((folder): PlacedFolder => {
    const { id, loadMs } = folder;
    return { ...folder, addsDelay: computeMs === null || loadMs === null ? id !== '' : loadMs > computeMs };
  });
  const cost = ({ addsDelay, loadMs, pricePerGb }: PlacedFolder): number =>
    (addsDelay ? loadMs : pricePerGb) ?? Infinity;
  const order = (a: PlacedFolder, b: PlacedFolder): number => (cost(a) === cost(b) ? 0 : cost(a) - cost(b));
  const quick = placed.filter(({ addsDelay }) => !addsDelay).sort(order);
  const slow = placed.filter(({ addsDelay }) => addsDelay).sort(order);
  return { folders: [...quick, ...slow], reason: reasonOf(quick, slow, computeMs), computeMs };
}

function reasonOf(
  [first, ...others]: readonly PlacedFolder[],
  slow: readonly PlacedFolder[],
  computeMs: number | null,
): PlacementReason {
  if (computeMs === null || (first ?? slow[0])?.loadMs === null) return 'unmeasured';
  if (!first) return 'fastest';
  if (others.length === 0) return 'only';
  return first.pricePerGb === undefined ? 'unpriced' : 'cheapest';
}

/** A prompt as questions usually make it. */
export interface UsualPrompt {
  chunks: number;
  /** Tokens of a chunk. */
  chunkTokens: number;
  /** Bytes of KV of a token. */
  bytesPerToken: number;
}

const QUESTION_TOKENS = 32;

/** Milliseconds to read such a prompt's chunks from each folder, and to compute it with its chunks in memory. */
export function usualCosts(
  costs: Pick<CostModel, 'predict' | 'loadMs'>,
  info: Subject,
  strategy: Strategy,
  { chunks, chunkTokens, bytesPerToken }: UsualPrompt,
): { computeMs: number | null; loadMs: (folder: string) => number | null } {
  const bytes = chunkTokens * bytesPerToken;
  const pieces = Array.from({ length: chunks }, () => ({ tokens: chunkTokens, tier: 'ram', bytes }));
  const work: Work = { past: 0, pieces: [...pieces, { tokens: QUESTION_TOKENS, tier: null, bytes: 0 }] };
  return {
    computeMs: costs.predict(info, work, strategy)?.total ?? null,
    loadMs: (folder) =>
      costs.loadMs(fileTier(folder), { files: chunks, bytes: chunks * bytes, layers: info.kvLayers }),
  };
}
