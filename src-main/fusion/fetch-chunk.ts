import type { ChunkCache, FusionModel, TokensWithLead } from './model.ts';
import { keyFor } from './model.ts';
import type { CostModel } from './planning/cost-model.ts';
import type { KvDtype } from '../engine/engine.ts';

/** Fetching saves processor time and battery: a chunk is fetched unless computing takes less than this share of the fetching time. */
const CLEARLY_SOONER = 0.5;

interface FetchOptions {
  model: Pick<FusionModel, 'info' | 'encodingPrefix' | 'bytesPerToken'>;
  store: Pick<ChunkCache, 'shared'>;
  /** Absent: every available chunk is fetched. */
  costs?: CostModel | undefined;
  /** Cancels the wait: ABORTED. */
  signal: AbortSignal | undefined;
}

/**
 * Copies a chunk that other machines share into the store, instead of computing it; false if none has it, or computing is clearly faster.
 * It uses no model, so it needs no turn. ABORTED, DISK_FULL, STORE_READ_ONLY.
 */
export async function fetchChunk(
  { dtype, label, ...chunk }: TokensWithLead & { dtype: KvDtype; label: string },
  { model, store, costs, signal }: FetchOptions,
): Promise<boolean> {
  const { shared } = store;
  if (!shared?.available) return false;
  const { length } = chunk.tokens;
  const fetching = costs?.transfer(length * model.bytesPerToken(dtype)) ?? 0;
  const computing = costs?.fullPrefill(model.info, length) ?? Infinity;
  if (computing < fetching * CLEARLY_SOONER) return false;
  const key = keyFor(model, dtype, chunk);
  return (await shared.locate([key])).has(key) && shared.fetch(key, label, signal);
}
