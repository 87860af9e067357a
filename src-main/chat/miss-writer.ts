import type { KvDtype } from '../engine/engine.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { encodeAndStore, keyFor, type ChunkCache, type FusionModel } from '../fusion/model.ts';

export interface MissWriterOptions {
  model: FusionModel;
  store: ChunkCache;
  dtype: KvDtype;
  onBackgroundError?: (error: unknown) => void;
}

/** Stores chunks that an answer had to compute, in the background, so that the next answer finds them. */
export class MissWriter {
  readonly #options: MissWriterOptions;
  #abort = new AbortController();
  #work: Promise<void> = Promise.resolve();

  constructor(options: MissWriterOptions) {
    this.#options = options;
  }

  write(chunks: readonly { tokens: Int32Array; label: string }[]): void {
    if (chunks.length === 0) return;
    const { signal } = this.#abort;
    this.#work = this.#work.then(() => this.#encode(chunks, signal));
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

  async #encode(
    chunks: readonly { tokens: Int32Array; label: string }[],
    signal: AbortSignal,
  ): Promise<void> {
    const { model, store, dtype } = this.#options;
    try {
      for (const chunk of chunks) {
        if (signal.aborted) return;
        if (!store.has(keyFor(model, dtype, chunk.tokens)))
          await encodeAndStore(model, store, { ...chunk, dtype }, signal);
      }
    } catch (error) {
      // The answer is given already: a full disk or a stop only means that nothing was gained for the next one.
      if (!(error instanceof KvasirError && error.code === 'ABORTED'))
        this.#options.onBackgroundError?.(error);
    }
  }
}
