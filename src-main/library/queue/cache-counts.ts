import { chunkKey, type ChunkStore } from '../../kvstore/store.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { TimeSlice } from '../../platform/time-slice.ts';
import { chunkSetOf, type Target } from './targets.ts';

/** Maintains the number of stored chunks per document. */
export class CacheCounts {
  readonly #catalogue: Catalogue;
  readonly #store: Pick<ChunkStore, 'entry' | 'isAway'>;

  constructor(catalogue: Catalogue, store: Pick<ChunkStore, 'entry' | 'isAway'>) {
    this.#catalogue = catalogue;
    this.#store = store;
  }

  /** Counts one document's chunks; true when the count has changed. Returns the missing tokens, too. ABORTED. */
  async count(
    document: { id: number; libraryId: number },
    target: Target,
    signal?: AbortSignal,
  ): Promise<{ changed: boolean; missingTokens: number }> {
    const setId = chunkSetOf(this.#catalogue, document.libraryId, target);
    if (setId === undefined) return { changed: false, missingTokens: 0 };
    const slice = new TimeSlice();
    let chunks = 0;
    let bytes = 0;
    let missingTokens = 0;
    const made = new Map<number, string>();
    for (const { id, key } of this.#catalogue.kvKeys.ofDocument(setId, document.id, target.dtype)) {
      await slice.step(signal);
      const named = key ?? this.#makeKey(id, target);
      if (key === null && named !== undefined) made.set(id, named);
      const entry = named === undefined ? undefined : this.#store.entry(named);
      // A chunk in a folder that is not connected counts: it is not computed ahead.
      const isStored = entry !== undefined || (named !== undefined && this.#store.isAway(named));
      if (!isStored) missingTokens += this.#catalogue.chunkTable.tokenCount(id);
      else {
        chunks++;
        bytes += entry?.bytes ?? 0;
      }
    }
    if (made.size > 0) this.#catalogue.kvKeys.add(made, target.dtype);
    const changed = this.#catalogue.chunkTable.setCached(setId, document.id, chunks, bytes);
    return { changed, missingTokens };
  }

  /** Hashing a chunk's tokens takes far longer than reading the key, so the key is cached. */
  #makeKey(id: number, target: Target): string | undefined {
    const chunk = this.#catalogue.chunkTable.tokens(id);
    return chunk && chunkKey({ ...target, ...chunk });
  }

  /** Counts everything again after others have changed the store; returns the libraries whose counts have changed. ABORTED. */
  async countAll(target: Target, signal: AbortSignal): Promise<Set<number>> {
    const changed = new Set<number>();
    const slice = new TimeSlice();
    for (const { id: libraryId } of this.#catalogue.libraries.list()) {
      for (const id of this.#catalogue.documents.idsOfLibrary(libraryId)) {
        if ((await this.count({ id, libraryId }, target, signal)).changed) changed.add(libraryId);
        await slice.step(signal);
      }
    }
    return changed;
  }
}
