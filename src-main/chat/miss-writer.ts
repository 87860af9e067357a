import type { KvDtype } from '../engine/engine.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { CostModel } from '../fusion/controller/cost-model.ts';
import { encodeAndStore, keyFor, type ChunkCache, type FusionModel } from '../fusion/model.ts';
import type { Gate } from '../platform/gate.ts';

export interface MissWriterOptions {
  store: ChunkCache;
  /** Questions come first: they interrupt what is being stored, which starts anew afterwards. */
  gate: Gate;
  /** Learns how long computing takes. */
  costs?: CostModel;
  onBackgroundError?: ((error: unknown) => void) | undefined;
}

export interface Miss {
  tokens: Int32Array;
  dtype: KvDtype;
  label: string;
}

/** Stores chunks that an answer had to compute, in the background, so that the next answer finds them. */
export class MissWriter {
  readonly #options: MissWriterOptions;
  #abort = new AbortController();
  #work: Promise<void> = Promise.resolve();

  constructor(options: MissWriterOptions) {
    this.#options = options;
  }

  write(model: FusionModel, misses: readonly Miss[]): void {
    const { signal } = this.#abort;
    for (const miss of misses) this.#work = this.#work.then(() => this.#store(model, miss, signal));
  }

  idle(): Promise<void> {
    return this.#work;
  }

  /** Gives the model free: what is not stored by now is a miss again next time. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#work;
    this.#abort = new AbortController();
  }

  async #store(model: FusionModel, miss: Miss, stopped: AbortSignal): Promise<void> {
    const { store, gate } = this.#options;
    if (stopped.aborted) return;
    try {
      await gate.background(async (signal) => {
        if (!store.has(keyFor(model, miss.dtype, miss.tokens)))
          await encodeAndStore(model, store, miss, signal, (ms) =>
            this.#options.costs?.observeEncode(model.info, miss.tokens.length, ms),
          );
      }, stopped);
    } catch (error) {
      // The answer is given already: a full disk or a stop only means that nothing was gained for the next one.
      if (!(error instanceof KvasirError && error.code === 'ABORTED'))
        this.#options.onBackgroundError?.(error);
    }
  }
}
