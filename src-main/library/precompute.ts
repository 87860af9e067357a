import type { LibraryProgress, PrecomputeReport } from '../../src-shared/library.ts';
import type { KvDtype } from '../engine/engine.ts';
import { encodeAndStore, keyFor, type ChunkCache, type FusionModel } from '../fusion/model.ts';
import { throwIfAborted } from '../platform/abort.ts';
import { systemClock, type Clock } from '../platform/clock.ts';

export interface PrecomputeItem {
  tokens: Int32Array;
  /** Where the text came from, for the store's list. */
  label: string;
}

export interface PrecomputeOptions {
  model: FusionModel;
  store: ChunkCache;
  dtype: KvDtype;
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: LibraryProgress) => void) | undefined;
  clock?: Clock;
}

/**
 * Computes and stores the KV of every chunk that the store does not have. Each chunk is stored as soon as it is
 * computed, so that a run that was stopped or killed goes on where it was. Chunks that would not fit the disk budget
 * are left out (they are computed when a question needs them), since storing them would only push out others.
 * ABORTED, DISK_FULL, STORE_READ_ONLY.
 */
export async function precompute(
  items: Iterable<PrecomputeItem>,
  options: PrecomputeOptions,
): Promise<PrecomputeReport> {
  const { model, store, dtype, signal, clock = systemClock } = options;
  const distinct = new Map<string, PrecomputeItem>();
  for (const item of items) distinct.set(keyFor(model, dtype, item.tokens), item);
  const missing = [...distinct].filter(([key]) => !store.has(key)).map(([, item]) => item);
  const plan = withinBudget([...distinct.values()], missing, store, model.bytesPerToken(dtype));

  const started = clock.now();
  const totalTokens = sumTokens(plan.items);
  let done = 0;
  let tokens = 0;
  let bytes = 0;
  const report = (): void => {
    const elapsed = clock.now() - started;
    const secondsLeft = tokens > 0 ? ((elapsed / tokens) * (totalTokens - tokens)) / 1000 : undefined;
    options.onProgress?.({ phase: 'precomputing', done, total: plan.items.length, tokens, secondsLeft });
  };
  report();
  for (const item of plan.items) {
    throwIfAborted(signal);
    bytes += await encodeAndStore(model, store, { ...item, dtype }, signal);
    tokens += item.tokens.length;
    done++;
    report();
  }
  return {
    chunks: distinct.size,
    computed: done,
    stored: distinct.size - missing.length,
    tokens,
    bytes,
    ms: clock.now() - started,
    overBudgetBytes: plan.overBudgetBytes,
  };
}

/** The missing chunks that the disk budget can hold beside the library's stored ones. */
function withinBudget(
  all: readonly PrecomputeItem[],
  missing: readonly PrecomputeItem[],
  store: ChunkCache,
  bytesPerToken: number,
): { items: PrecomputeItem[]; overBudgetBytes: number } {
  const budget = store.stats().diskBudgetBytes;
  const needed = sumTokens(all) * bytesPerToken;
  if (needed <= budget) return { items: [...missing], overBudgetBytes: 0 };
  let room = budget - (needed - sumTokens(missing) * bytesPerToken);
  const items = missing.filter((item) => {
    const bytes = item.tokens.length * bytesPerToken;
    if (bytes > room) return false;
    room -= bytes;
    return true;
  });
  return { items, overBudgetBytes: needed - budget };
}

function sumTokens(items: readonly PrecomputeItem[]): number {
  return items.reduce((sum, item) => sum + item.tokens.length, 0);
}
