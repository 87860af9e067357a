import { fetchChunk } from '../../fusion/fetch-chunk.ts';
import type { CostModel } from '../../fusion/planning/cost-model.ts';
import { encodeAndStore, type ChunkCache, type TokensWithLead } from '../../fusion/model.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { chunkKey } from '../../kvstore/store.ts';
import { throwIfAborted } from '../../platform/abort.ts';
import type { Gate } from '../../platform/gate.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { DocumentRow } from '../../catalogue/document-table.ts';
import { TimeSlice } from '../../platform/time-slice.ts';
import { isSameTarget, targetOf, type ChunkModel, type Target } from './targets.ts';

interface PrecomputerOptions {
  catalogue: Catalogue;
  store: ChunkCache;
  models: { readonly active: ChunkModel | undefined };
  gate: Gate;
  /** Decides whether computing is faster than fetching from other machines. */
  costs?: CostModel | undefined;
}

export interface ChunkTokens {
  /** Tokens of this chunk, if it was computed. */
  computedTokens: number;
  /** Tokens of this chunk, if it was fetched from the shared cache instead. */
  fetchedTokens: number;
  /** Tokens of this chunk, if it is missing and the disk budget cannot hold it. */
  leftOutTokens: number;
}

export interface ChunkDone extends ChunkTokens {
  /** Chunks of the document processed, and in total. */
  done: number;
  total: number;
}

/** The last step of a document: the KV of those of its chunks that the store lacks. */
export class DocumentPrecomputer {
  readonly #options: PrecomputerOptions;

  constructor(options: PrecomputerOptions) {
    this.#options = options;
  }

  /**
   * Computes chunk by chunk, at lower priority than questions, and stores each immediately. Chunks that other machines share are fetched
   * instead. Chunks that the disk budget cannot hold are left out: storing them would only evict their equals. False when
   * `onChunk` ended it before the last chunk. ABORTED, DISK_FULL, STORE_READ_ONLY.
   */
  async precompute(
    document: DocumentRow,
    chunkSetId: number,
    target: Target,
    onChunk: (progress: ChunkDone) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    if (!target.blends) return true; // since it was queued, a model without KV of chunks came into use
    const { catalogue } = this.#options;
    const ids = catalogue.chunkTable.ids(chunkSetId, document.id);
    const slice = new TimeSlice();
    await this.#locate(ids, target, slice);
    for (const [index, id] of ids.entries()) {
      await slice.step(signal);
      throwIfAborted(signal);
      const tokens = await this.chunk(id, document, target, signal);
      const goesOn = onChunk({ done: index + 1, total: ids.length, ...tokens });
      if (!goesOn && index + 1 < ids.length) return false;
    }
    return true;
  }

  /** Computes or fetches one chunk, if the store lacks it and has room. `found`: a search found it. As precompute(). */
  async chunk(
    id: number,
    { path }: Pick<DocumentRow, 'path'>,
    target: Target,
    signal: AbortSignal | undefined,
    found = false,
  ): Promise<ChunkTokens> {
    const { catalogue, store } = this.#options;
    const tokens = { computedTokens: 0, fetchedTokens: 0, leftOutTokens: 0 };
    const chunk = catalogue.chunkTable.tokens(id);
    if (!chunk) return tokens;
    const key = chunkKey({ ...target, ...chunk });
    if (found) store.found(key);
    // A chunk in a folder that is not connected is only computed again for a question.
    if (!store.has(key) && !store.isAway(key))
      tokens[await this.#store(key, chunk, path, target, signal)] = chunk.tokens.length;
    return tokens;
  }

  /** Asks in a single request which of the chunks other machines have: one by one, each would take a round trip. */
  async #locate(ids: readonly number[], target: Target, slice: TimeSlice): Promise<void> {
    const { catalogue, store } = this.#options;
    if (!store.shared?.available) return;
    const keys: string[] = [];
    for (const id of ids) {
      await slice.step();
      const chunk = catalogue.chunkTable.tokens(id);
      if (chunk) keys.push(chunkKey({ ...target, ...chunk }));
    }
    await store.shared.locate(keys);
  }

  /** Fetches or computes a chunk, if the store has room for it. */
  async #store(
    key: string,
    chunk: TokensWithLead,
    label: string,
    target: Target,
    signal: AbortSignal | undefined,
  ): Promise<keyof ChunkTokens> {
    const { store, models } = this.#options;
    const bytes = chunk.tokens.length * (models.active?.model.bytesPerToken(target.dtype) ?? 0);
    if (!store.hasRoom(bytes, key)) return 'leftOutTokens';
    if (await this.#fetch(chunk, label, target, signal)) return 'fetchedTokens';
    try {
      await this.#compute(chunk, label, target, signal);
      return 'computedTokens';
    } catch (error) {
      // A question's chunks have taken the room meanwhile.
      if (error instanceof KvasirError && error.code === 'CACHE_FULL') return 'leftOutTokens';
      throw error;
    }
  }

  async #fetch(
    chunk: TokensWithLead,
    label: string,
    { dtype }: Target,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { store, models, costs } = this.#options;
    const model = models.active?.model;
    return model?.blends === true && fetchChunk({ ...chunk, dtype, label }, { model, store, costs, signal });
  }

  async #compute(
    chunk: TokensWithLead,
    label: string,
    target: Target,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { gate, models, store, costs } = this.#options;
    await gate.background(async (each) => {
      const { active } = models;
      if (!active?.model.blends || !isSameTarget(target, targetOf(active, target.dtype))) {
        throw new KvasirError('ABORTED', 'Another model is in use.');
      }
      const encoded = { ...chunk, dtype: target.dtype, label, ahead: true };
      const { info } = active.model;
      await encodeAndStore(active.model, store, encoded, each, (ms) =>
        costs?.observeEncode(info, chunk.tokens.length, ms),
      );
    }, signal);
  }
}
