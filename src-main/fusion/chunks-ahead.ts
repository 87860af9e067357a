import type { ChunkStore } from '../kvstore/store.ts';
import { throwIfAborted, unlessAborted, yieldToEventLoop } from '../platform/abort.ts';
import type { FusionModel } from './model.ts';

/** The part of the store that loading ahead needs. */
export type AheadStore = Pick<ChunkStore, 'entry' | 'prefetch' | 'stats'> & {
  /** Chunks that other machines have. */
  readonly shared?: Pick<NonNullable<ChunkStore['shared']>, 'locate' | 'ahead'> | undefined;
};

export interface ExpectedChunk {
  key: string;
  /** Of KV, estimated. */
  bytes: number;
}

interface BringOptions {
  /** Bytes of memory that these chunks may take. */
  memory: number;
  signal: AbortSignal;
}

/** Share of the memory budget for expected chunks: a wrong guess must not evict those in use. */
const AHEAD_SHARE = 1 / 4;

const NOWHERE: Promise<ReadonlySet<string>> = Promise.resolve(new Set());

/** Loads chunks that are about to be used into memory, from the local disk or another machine. */
export class ChunksAhead {
  readonly #store: AheadStore;
  readonly #models: { readonly active: { model: object } | undefined };
  /** The chunk being fetched from another machine, whoever requested it. */
  #coming: Promise<unknown> = Promise.resolve();

  constructor({
    store,
    models,
  }: {
    store: AheadStore;
    models: { readonly active: { model: object } | undefined };
  }) {
    this.#store = store;
    this.#models = models;
  }

  /** Bytes of memory for all expected chunks. */
  get memory(): number {
    return this.#store.stats().ram.budgetBytes * AHEAD_SHARE;
  }

  /** One chunk after another, until `memory` is taken. Evicts nothing from the disk. ABORTED. */
  async bring(
    chunks: readonly ExpectedChunk[],
    model: FusionModel,
    { memory, signal }: BringOptions,
  ): Promise<void> {
    const store = this.#store;
    const keys = chunks.map(({ key }) => key);
    const elsewhere = await unlessAborted(store.shared?.locate(keys) ?? NOWHERE, signal);
    const { bytes: stored, diskBudgetBytes } = store.stats();
    const room = { memory, disk: diskBudgetBytes - stored };
    for (const { key, bytes } of chunks) {
      await yieldToEventLoop();
      throwIfAborted(signal);
      const entry = store.entry(key);
      if (entry ? entry.inRam : !elsewhere.has(key)) continue;
      room.memory -= entry?.bytes ?? bytes;
      if (room.memory < 0) return;
      if (!entry) {
        room.disk -= bytes;
        if (room.disk < 0 || !(await this.#fetch(key, model, signal))) continue;
      }
      if (this.#isInUse(model)) await store.prefetch(key, model, 'made');
    }
  }

  /**
   * Fetches a chunk from another machine: one at a time. A transfer in progress continues when its reason ends, since a question asked now
   * most likely needs the chunk and then uses what has arrived.
   */
  async #fetch(key: string, model: FusionModel, signal: AbortSignal): Promise<boolean> {
    const { shared } = this.#store;
    await unlessAborted(this.#coming, signal);
    if (!shared || !this.#isInUse(model)) return false;
    const coming = shared.ahead(key, model);
    this.#coming = coming;
    return unlessAborted(coming, signal);
  }

  /** The store takes no calls of a model that was disposed meanwhile. */
  #isInUse(model: FusionModel): boolean {
    return this.#models.active?.model === model;
  }
}
