import { KV_DTYPES } from '../../../src-shared/kv-dtype.ts';
import type { ChunkStore } from '../../kvstore/store.ts';
import { chunkKey } from '../../kvstore/store.ts';
import { SYSTEM_PROMPT } from '../../fusion/stored-prefixes.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { KeyedTokens } from '../../catalogue/chunk-table.ts';
import { throwIfAborted } from '../../platform/abort.ts';
import { TimeSlice } from '../../platform/time-slice.ts';

/** Chunks deleted in one transaction; each is removed from the search index, too. */
const CHUNKS_AT_ONCE = 20;

/** Removes a document's text and chunks, in short transactions. ABORTED. */
export async function removeContents(
  catalogue: Catalogue,
  documentId: number,
  signal?: AbortSignal,
): Promise<void> {
  const slice = new TimeSlice();
  while (catalogue.chunkTable.removeSome(documentId, CHUNKS_AT_ONCE) > 0) await slice.step(signal);
  await catalogue.rest();
  catalogue.texts.remove(documentId);
}

/** Removes a document from the catalogue; its KV stays in the store. ABORTED. */
export async function removeDocument(
  catalogue: Catalogue,
  documentId: number,
  signal?: AbortSignal,
): Promise<void> {
  catalogue.markRemoval();
  await removeContents(catalogue, documentId, signal);
  catalogue.documents.remove(documentId);
}

type EvictingStore = Pick<ChunkStore, 'evict' | 'unpin' | 'has' | 'isAway' | 'list'>;

interface EvictionTotals {
  evictedChunks: number;
  evictedBytes: number;
}

/**
 * Removes documents with the KV that no other document shares, whichever model computed it: one document at a time, so that a kill leaves
 * the KV of at most one behind, for the store to evict some day. ABORTED.
 */
export async function removeWithCache(
  catalogue: Catalogue,
  store: EvictingStore,
  documentIds: readonly number[],
  signal?: AbortSignal,
): Promise<EvictionTotals> {
  const evicted: EvictionTotals = { evictedChunks: 0, evictedBytes: 0 };
  for (const id of documentIds) {
    throwIfAborted(signal);
    const { evictedChunks, evictedBytes } = await removeOne(catalogue, store, id);
    evicted.evictedChunks += evictedChunks;
    evicted.evictedBytes += evictedBytes;
  }
  return evicted;
}

/**
 * Not abortable once started: when the rows are gone, nothing else knows the keys. The KV is deleted last, since the queue may recompute it
 * while rows exist.
 */
async function removeOne(
  catalogue: Catalogue,
  store: EvictingStore,
  documentId: number,
): Promise<EvictionTotals> {
  const slice = new TimeSlice();
  const candidates: KeyedTokens[] = [];
  for (const keyed of catalogue.chunkTable.keyed(documentId)) {
    candidates.push(keyed);
    await slice.step();
  }
  await removeDocument(catalogue, documentId);
  const keys = new Set<string>();
  for (const { fingerprint, prefix, lead, tokens } of candidates) {
    await slice.step();
    if (catalogue.chunkTable.has({ fingerprint, lead, tokens })) continue;
    for (const dtype of KV_DTYPES) {
      const key = chunkKey({ fingerprint, prefix, lead, dtype, tokens });
      if (store.has(key) || store.isAway(key)) keys.add(key);
    }
  }
  // Which passages a checkpoint contains is not recorded: all that may contain some go.
  for (const { key, label } of store.list({ kind: 'prefix' })) if (label !== SYSTEM_PROMPT) keys.add(key);
  if (keys.size === 0) return { evictedChunks: 0, evictedBytes: 0 };
  for (const key of keys) store.unpin(key); // the document it was pinned for is gone
  const { entries, bytes } = await store.evict({ keys: [...keys] });
  return { evictedChunks: entries, evictedBytes: bytes };
}
