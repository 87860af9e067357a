import { KvasirError } from '../../src-shared/errors.ts';
import { withModel } from '../answering/with-model.ts';
import type { WaitingPrompt } from '../answering/waiting-prompts.ts';
import { throwIfAborted } from '../platform/abort.ts';

type Parts<M> = Parameters<typeof withModel<M, unknown>>[0];

/** More requests are rejected: their clients may retry, and waiting requests do not fill memory. */
const MOST_WAITING = 256;

/** The queue of requests for the model, which several may use concurrently. */
export class RequestQueue<M> {
  readonly #parts: Parts<M>;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();
  #waiting = 0;

  constructor(parts: Parts<M>) {
    this.#parts = parts;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Stops all requests; resolves when none uses the model any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
  }

  /**
   * Runs `work` when its turn comes, with a signal that ends it; stopping ends the wait immediately. `wait`: as in withModel. CONFLICT when
   * too many wait, ABORTED.
   */
  async take<T>(
    stop: AbortSignal,
    work: (model: M, signal: AbortSignal) => Promise<T>,
    wait?: () => WaitingPrompt,
  ): Promise<T> {
    const signal = AbortSignal.any([stop, this.#closing.signal]);
    throwIfAborted(signal);
    if (this.#waiting >= MOST_WAITING) throw tooMany();
    let waits = true;
    const begin = (): void => {
      if (waits) this.#waiting--;
      waits = false;
    };
    this.#waiting++;
    try {
      return await withModel(this.#parts, { signal, forProgram: true, wait }, (model) => {
        begin();
        return this.#counted(work(model, signal));
      });
    } finally {
      begin();
    }
  }

  async #counted<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }
}

function tooMany(): KvasirError {
  const message = `${MOST_WAITING} requests are already waiting for the model.`;
  return new KvasirError('CONFLICT', message, 'Try again later.');
}
