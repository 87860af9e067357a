import type { KvDtype } from '../../engine/engine.ts';
import type { ChunkStore } from '../../kvstore/store.ts';
import { chunkKey } from '../../kvstore/store.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { KeyedTokens } from '../../catalogue/chunk-table.ts';
import { TimeSlice } from '../../platform/time-slice.ts';

const DTYPES: readonly KvDtype[] = ['f16', 'q8_0'];
/** Chunks deleted in one transaction; each leaves the search index too. */
const CHUNKS_AT_ONCE = 20;

/** Removes a document's text and chunks, in transactions that are short. ABORTED. */
export async function removeContents(
  catalogue: Catalogue,
  documentId: number,
  signal?: AbortSignal,
): Promise<void> {
  const slice = new TimeSlice();
  while (catalogue.chunkTable.removeSome(documentId, CHUNKS_AT_ONCE) > 0) await slice.step(signal);
  catalogue.texts.remove(documentId);
}

/** Removes a document from the catalogue; its KV stays in the store. ABORTED. */
export async function removeDocument(
  catalogue: Catalogue,
  documentId: number,
  signal?: AbortSignal,
): Promise<void> {
  await removeContents(catalogue, documentId, signal);
  catalogue.documents.remove(documentId);
}

/** Removes documents with the KV that no other document shares, whichever model made it. */
export async function removeWithCache(
  catalogue: Catalogue,
  store: Pick<ChunkStore, 'evict' | 'unpin' | 'has'>,
  documentIds: readonly number[],
): Promise<{ evictedChunks: number; evictedBytes: number }> {
  const slice = new TimeSlice();
  const candidates: KeyedTokens[] = [];
  for (const id of documentIds) {
    for (const keyed of catalogue.chunkTable.keyed(id)) {
      candidates.push(keyed);
      await slice.step();
    }
    await removeDocument(catalogue, id);
  }
  const keys = new Set<string>();
  for (const { tokens, fingerprint, prefix } of candidates) {
    await slice.step();
    if (catalogue.chunkTable.has(fingerprint, tokens)) continue;
    for (const dtype of DTYPES) {
      const key = chunkKey({ fingerprint, prefix, dtype, tokens });
      if (store.has(key)) keys.add(key);
    }
  }
  if (keys.size === 0) return { evictedChunks: 0, evictedBytes: 0 };
  for (const key of keys) store.unpin(key); // what it was pinned for is gone
  const { entries, bytes } = await store.evict({ keys: [...keys] });
  return { evictedChunks: entries, evictedBytes: bytes };
}
