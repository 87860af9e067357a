import { fetchChunk } from '../../fusion/fetch-chunk.ts';
import type { CostModel } from '../../fusion/planning/cost-model.ts';
import { encodeAndStore, textBetween, type ChunkCache, type TokensWithLead } from '../../fusion/model.ts';
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

/** A chunk that must be computed, or what became of it otherwise. */
type Looked = { chunk: TokensWithLead; bytes: number } | { outcome?: keyof ChunkTokens; length: number };

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
    for await (const looked of this.#passes(ids, document, target, signal)) {
      await slice.step(signal);
      throwIfAborted(signal);
      let goesOn = true;
      for (const tokens of await this.#finish(looked, document, target, signal))
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
    const looked = await this.#look(id, document, target, { signal, found });
    const [tokens = NOTHING] = await this.#finish([looked], document, target, signal);
    return tokens;
  }

  /** The chunks in order; those that one pass computes come together, with what need not be computed among them. */
  async *#passes(
    ids: readonly number[],
    document: DocumentRow,
    target: Target,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Looked[]> {
    let pass: Looked[] = [];
    let bytes = 0;
    for (const id of ids) {
      const next = await this.#look(id, document, target, { signal, bytes });
      const last = pass.findLast((each) => 'chunk' in each);
      const begins = 'chunk' in next && !(last && textBetween(last.chunk, next.chunk));
      if (begins && pass.length > 0) {
        yield pass;
        [pass, bytes] = [[], 0];
      }
      pass.push(next);
      bytes += 'chunk' in next ? next.bytes : 0;
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
  ): Promise<Looked> {
    const { catalogue, store, models, costs } = this.#options;
    const chunk = catalogue.chunkTable.tokens(id);
    if (!chunk) return { length: 0 };
    const key = chunkKey({ ...target, ...chunk });
    if (found) store.found(key);
    const { length } = chunk.tokens;
    // A chunk in a folder that is not connected is only computed again for a question.
    if (store.has(key) || store.isAway(key)) return { length };
    const model = models.active?.model;
    const own = length * (model?.bytesPerToken(target.dtype) ?? 0);
    if (!store.hasRoom(bytes + own, key)) return { outcome: 'leftOutTokens', length };
    const shared = { ...chunk, dtype: target.dtype, label };
    if (model?.blends === true && (await fetchChunk(shared, { model, store, costs, signal })))
      return { outcome: 'fetchedTokens', length };
    return { chunk, bytes: own };
  }

  /** Computes what must be, and tells what became of each. */
  async #finish(
    looked: readonly Looked[],
    { path: label }: Pick<DocumentRow, 'path'>,
    target: Target,
    signal: AbortSignal | undefined,
  ): Promise<ChunkTokens[]> {
    const { store } = this.#options;
    const chunks = looked.flatMap((each) => ('chunk' in each ? [each.chunk] : []));
    if (chunks.length > 0) {
      try {
        await this.#compute(chunks, label, target, signal);
      } catch (error) {
        // A question's chunks have taken the room meanwhile.
        if (!(error instanceof KvasirError && error.code === 'CACHE_FULL')) throw error;
      }
    }
    return looked.map((each) => {
      if (!('chunk' in each)) return { ...NOTHING, ...(each.outcome && { [each.outcome]: each.length }) };
      const { length } = each.chunk.tokens;
      const isStored = store.has(chunkKey({ ...target, ...each.chunk }));
      return { ...NOTHING, [isStored ? 'computedTokens' : 'leftOutTokens']: length };
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
