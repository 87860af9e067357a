import { fetchChunk } from '../../fusion/fetch-chunk.ts';
import type { CostModel } from '../../fusion/planning/cost-model.ts';
import { encodeAndStore, textBetween } from '../../fusion/encode-chunks.ts';
import { type ChunkCache, type TokensWithLead } from '../../fusion/model.ts';
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

/** A chunk as the store has it. */
interface ChunkState {
  chunk: TokensWithLead;
  /** Must be computed. */
  missing: boolean;
  /** Where its tokens count, if it was not stored and need not be computed. */
  outcome?: keyof ChunkTokens;
}

const NOTHING: ChunkTokens = { computedTokens: 0, fetchedTokens: 0, leftOutTokens: 0 };

/** The last step of a document: the KV of those of its chunks that the store lacks. */
export class DocumentPrecomputer {
  readonly #options: PrecomputerOptions;

  constructor(options: PrecomputerOptions) {
    this.#options = options;
  }

  /**
   * Computes at lower priority than questions, in one pass what follows each other, and stores each pass at once. Chunks that other
   * machines share are fetched instead. Chunks that the disk budget cannot hold are left out: storing them would only evict their
   * equals. False when `onChunk` ended it before the last chunk. ABORTED, DISK_FULL, STORE_READ_ONLY.
   */
  async precompute(
    document: DocumentRow,
    chunkSetId: number,
    target: Target,
    onChunk: (progress: ChunkDone) => boolean,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    if (!target.blends) return true; // since it was queued, a model without KV of chunks came into use
    const ids = this.#options.catalogue.chunkTable.ids(chunkSetId, document.id);
    const slice = new TimeSlice();
    await this.#locate(ids, target, slice);
    let done = 0;
    for await (const states of this.#passes(ids, document, target, signal)) {
      let goesOn = true;
      for (const tokens of await this.#finish(states, document, target, signal))
        goesOn = onChunk({ done: ++done, total: ids.length, ...tokens });
      if (!goesOn && done < ids.length) return false;
    }
    return true;
  }

  /** Computes or fetches one chunk, if the store lacks it and has room. `found`: a search found it. As precompute(). */
  async chunk(
    id: number,
    document: Pick<DocumentRow, 'path'>,
    target: Target,
    signal: AbortSignal | undefined,
    found = false,
  ): Promise<ChunkTokens> {
    const state = await this.#look(id, document, target, { signal, found });
    const [tokens = NOTHING] = await this.#finish([state], document, target, signal);
    return tokens;
  }

  /** The chunks in order; those that continue each other, so that one pass computes what is missing of them, come together. */
  async *#passes(
    ids: readonly number[],
    document: DocumentRow,
    target: Target,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<ChunkState[]> {
    const slice = new TimeSlice();
    let pass: ChunkState[] = [];
    let bytes = 0;
    for (const id of ids) {
      await slice.step(signal);
      throwIfAborted(signal);
      const next = await this.#look(id, document, target, { signal, bytes });
      const last = pass.at(-1);
      if (last && !textBetween(last.chunk, next.chunk)) {
        yield pass;
        [pass, bytes] = [[], 0];
      }
      pass.push(next);
      if (next.missing) bytes += this.#bytesOf(next.chunk, target);
    }
    if (pass.length > 0) yield pass;
  }

  /** Whether a chunk must be computed: not if it is stored, shared, or has no room beside the `bytes` that are computed with it. */
  async #look(
    id: number,
    { path: label }: Pick<DocumentRow, 'path'>,
    target: Target,
    {
      signal,
      found = false,
      bytes = 0,
    }: { signal: AbortSignal | undefined; found?: boolean; bytes?: number },
  ): Promise<ChunkState> {
    const { catalogue, store, models, costs } = this.#options;
    const chunk = catalogue.chunkTable.tokens(id);
    if (!chunk) return { chunk: { tokens: new Int32Array() }, missing: false };
    const key = chunkKey({ ...target, ...chunk });
    if (found) store.found(key);
    // A chunk in a folder that is not connected is only computed again for a question.
    if (store.has(key) || store.isAway(key)) return { chunk, missing: false };
    if (!store.hasRoom(bytes + this.#bytesOf(chunk, target), key))
      return { chunk, missing: false, outcome: 'leftOutTokens' };
    const model = models.active?.model;
    const shared = { ...chunk, dtype: target.dtype, label };
    if (model?.blends === true && (await fetchChunk(shared, { model, store, costs, signal })))
      return { chunk, missing: false, outcome: 'fetchedTokens' };
    return { chunk, missing: true };
  }

  #bytesOf({ tokens }: TokensWithLead, { dtype }: Target): number {
    return tokens.length * (this.#options.models.active?.model.bytesPerToken(dtype) ?? 0);
  }

  /** Computes what must be, and tells what became of each. */
  async #finish(
    states: readonly ChunkState[],
    { path: label }: Pick<DocumentRow, 'path'>,
    target: Target,
    signal: AbortSignal | undefined,
  ): Promise<ChunkTokens[]> {
    const { store } = this.#options;
    const missing = states.filter((state) => state.missing).map(({ chunk }) => chunk);
    if (missing.length > 0) {
      try {
        await this.#compute(missing, label, target, signal);
      } catch (error) {
        // A question's chunks have taken the room meanwhile.
        if (!(error instanceof KvasirError && error.code === 'CACHE_FULL')) throw error;
      }
    }
    const computed = (chunk: TokensWithLead): keyof ChunkTokens =>
      store.has(chunkKey({ ...target, ...chunk })) ? 'computedTokens' : 'leftOutTokens';
    return states.map(({ chunk, ...state }) => {
      const outcome = state.missing ? computed(chunk) : state.outcome;
      return { ...NOTHING, ...(outcome && { [outcome]: chunk.tokens.length }) };
    });
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

  async #compute(
    chunks: readonly TokensWithLead[],
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
      const { info } = active.model;
      await encodeAndStore(active.model, store, chunks, {
        ...{ dtype: target.dtype, label, ahead: true, signal: each },
        onEncoded: (tokens, ms) => costs?.observeEncode(info, tokens, ms),
      });
    }, signal);
  }
}
