import { setTimeout as wait } from 'node:timers/promises';
import type { ChunkStore } from '../kvstore/store.ts';
import type { SharedCache } from './shared-cache.ts';

const AT_ONCE = 200;
const RETRY_MS = 10_000;

/**
 * Offers the chunks that a store had before it was shared, page by page as space permits. Never offers prefixes, which
 * contain what users said to the assistant.
 */
export async function offerStored(
  store: Pick<ChunkStore, 'after' | 'entry' | 'path'>,
  cache: Pick<SharedCache, 'has' | 'offer' | 'settled' | 'available' | 'waiting'>,
  signal: AbortSignal,
): Promise<void> {
  for (let last = ''; ;) {
    if (signal.aborted) return;
    const keys = store.after(last, AT_ONCE).map(({ key }) => key);
    if (keys.length === 0) return;
    const there = await cache.has(keys);
    if (!cache.available || cache.waiting > AT_ONCE) {
      // Unreachable, or not accepting more for now.
      await cache.settled(AT_ONCE);
      await wait(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
      continue;
    }
    for (const key of keys) {
      const entry = there.has(key) ? undefined : store.entry(key);
      const path = entry?.kind === 'chunk' ? store.path(key) : undefined;
      if (path !== undefined) cache.offer(key, path);
    }
    last = keys.at(-1) ?? '';
    await cache.settled(AT_ONCE / 2);
  }
}
