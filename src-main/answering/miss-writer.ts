import type { KvDtype } from '../engine/engine.ts';
import { fetchChunk } from '../fusion/fetch-chunk.ts';
import type { CostModel } from '../fusion/planning/cost-model.ts';
import {
  encodeAndStore,
  keyFor,
  type ChunkCache,
  type FusionModel,
  type TokensWithLead,
} from '../fusion/model.ts';
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
    for (const miss of misses) this.#tasks.add((signal) => this.#store(model, miss, signal));
  }

  idle(): Promise<void> {
    return this.#tasks.idle();
  }

  /** Releases the model: chunks not stored by now are a miss again next time. */
  stop(): Promise<void> {
    return this.#tasks.stop();
  }

  async #store(model: FusionModel, miss: Miss, signal: AbortSignal): Promise<void> {
    const { store, costs } = this.#options;
    if (store.has(keyFor(model, miss.dtype, miss))) return;
    if (await fetchChunk(miss, { model, store, costs, signal })) return;
    await encodeAndStore(model, store, [miss], {
      ...{ dtype: miss.dtype, label: miss.label, signal },
      onEncoded: (tokens, ms) => costs?.observeEncode(model.info, tokens, ms),
    });
  }
}
