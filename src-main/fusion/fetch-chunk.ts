import type { ChunkCache, FusionModel, LedTokens } from './model.ts';
import { keyFor } from './model.ts';
import type { CostModel } from './planning/cost-model.ts';
import type { KvDtype } from '../engine/engine.ts';

/** Fetching leaves processor and battery alone: it is done unless computing takes less than this share of its time. */
const CLEARLY_SOONER = 0.5;

interface FetchOptions {
  model: Pick<FusionModel, 'info' | 'encodingPrefix' | 'bytesPerToken'>;
  store: Pick<ChunkCache, 'shared'>;
  /** Absent: whatever is there is fetched. */
  costs?: CostModel | undefined;
  /** Ends the wait: ABORTED. */
  signal: AbortSignal | undefined;
}

/**
 * Copies a chunk that other machines share into the store, instead of computing it; false where they have none, or computing it is
 * clearly sooner. It uses no model, so nobody's turn is waited for. ABORTED, DISK_FULL, STORE_READ_ONLY.
 */
export async function fetchChunk(
  { dtype, label, ...chunk }: LedTokens & { dtype: KvDtype; label: string },
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
