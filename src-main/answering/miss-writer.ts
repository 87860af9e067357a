import type { KvDtype } from '../engine/engine.ts';
import { fetchChunk } from '../fusion/fetch-chunk.ts';
import type { CostModel } from '../fusion/planning/cost-model.ts';
import { encodeAndStore } from '../fusion/encode-chunks.ts';
import { keyFor, type ChunkCache, type FusionModel, type TokensWithLead } from '../fusion/model.ts';
import { BackgroundTasks } from '../platform/background-tasks.ts';
import type { Gate } from '../platform/gate.ts';

interface MissWriterOptions {
  store: ChunkCache;
  gate: Gate;
  /** Learns the cost of computing. */
  costs?: CostModel;
  onBackgroundError?: ((error: unknown) => void) | undefined;
}

export interface Miss extends TokensWithLead {
  dtype: KvDtype;
  label: string;
}

/** Stores chunks that an answer had to compute, in the background, so that the next answer finds them. */
export class MissWriter {
  readonly #options: MissWriterOptions;
  readonly #tasks: BackgroundTasks;

  constructor(options: MissWriterOptions) {
    this.#options = options;
    this.#tasks = new BackgroundTasks({ gate: options.gate, onFailed: options.onBackgroundError });
  }

  write(model: FusionModel, misses: readonly Miss[]): void {
    const byDocument = Map.groupBy(misses, ({ dtype, label }) => `${dtype} ${label}`);
    for (const ofOne of byDocument.values()) this.#tasks.add((signal) => this.#store(model, ofOne, signal));
  }

  idle(): Promise<void> {
    return this.#tasks.idle();
  }

  /** Releases the model: chunks not stored by now are a miss again next time. */
  stop(): Promise<void> {
    return this.#tasks.stop();
  }

  async #store(model: FusionModel, misses: readonly Miss[], signal: AbortSignal): Promise<void> {
    const { store, costs } = this.#options;
    const missing: Miss[] = [];
    for (const miss of misses) {
      if (store.has(keyFor(model, miss.dtype, miss))) continue;
      if (!(await fetchChunk(miss, { model, store, costs, signal }))) missing.push(miss);
    }
    const [first] = missing;
    if (!first) return;
    await encodeAndStore(model, store, missing, {
      ...{ dtype: first.dtype, label: first.label, signal },
      onEncoded: (tokens, ms) => costs?.observeEncode(model.info, tokens, ms),
    });
  }
}
