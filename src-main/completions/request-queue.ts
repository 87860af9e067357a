import { KvasirError } from '../../src-shared/errors.ts';
import { throwIfAborted } from '../platform/abort.ts';
import type { Gate } from '../platform/gate.ts';

/** Where the model comes from; ModelSource gives it. */
interface Models<M> {
  current(): Promise<M>;
  readonly active: M | undefined;
}

/** More are refused: whoever asks then may try again, and memory is not filled by those who wait. */
const MOST_WAITING = 256;

/** The one place where requests wait for the model, which several may share. */
export class RequestQueue<M> {
  readonly #models: Models<M>;
  readonly #gate: Gate;
  readonly #closing = new AbortController();
  readonly #turns = new Set<Promise<unknown>>();
  #waiting = 0;
  #running = 0;

  constructor(models: Models<M>, gate: Gate) {
    this.#models = models;
    this.#gate = gate;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get running(): number {
    return this.#running;
  }

  /** Ends all requests; resolves when none has the model any more. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#turns);
  }

  /**
   * Runs `work` when its turn has come, with a signal that ends it; stopping ends the wait at once. CONFLICT when too many wait,
   * ABORTED.
   */
  async take<T>(stop: AbortSignal, work: (model: M, signal: AbortSignal) => Promise<T>): Promise<T> {
    const signal = AbortSignal.any([stop, this.#closing.signal]);
    throwIfAborted(signal);
    if (this.#waiting >= MOST_WAITING) throw tooMany();
    const stopped = Promise.withResolvers<never>();
    let begun = false;
    const begin = (): void => {
      if (!begun) this.#waiting--;
      begun = true;
    };
    const onStop = (): void => {
      if (!begun) stopped.reject(new KvasirError('ABORTED', 'It was stopped before it began.'));
      begin();
    };
    this.#waiting++;
    signal.addEventListener('abort', onStop, { once: true });
    const turn = this.#turn(signal, begin, work);
    this.#turns.add(turn);
    void turn.catch(() => undefined).then(() => this.#turns.delete(turn));
    try {
      return await Promise.race([turn, stopped.promise]);
    } finally {
      begin();
      signal.removeEventListener('abort', onStop);
    }
  }

  async #turn<T>(
    signal: AbortSignal,
    begin: () => void,
    work: (model: M, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    for (;;) {
      await this.#models.current(); // outside of the gate, which loading a model needs itself
      const result = await this.#gate.foreground(() => this.#withModel(signal, begin, work), {
        shared: true,
      });
      if (result) return result.value;
    }
  }

  /** undefined when there is no model any more. */
  async #withModel<T>(
    signal: AbortSignal,
    begin: () => void,
    work: (model: M, signal: AbortSignal) => Promise<T>,
  ): Promise<{ value: T } | undefined> {
    throwIfAborted(signal);
    const { active } = this.#models;
    if (!active) return undefined;
    begin();
    this.#running++;
    try {
      return { value: await work(active, signal) };
    } finally {
      this.#running--;
    }
  }
}

function tooMany(): KvasirError {
  const message = `${MOST_WAITING} requests are waiting for the model already.`;
  return new KvasirError('CONFLICT', message, 'Try again in a while.');
}
