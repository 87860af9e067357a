import { throttled } from './event-bus.ts';

interface RecurringTaskOptions {
  /** One round; it must end soon once its signal is aborted. */
  work: (signal: AbortSignal) => Promise<void>;
  /** Minimum time between the starts of two rounds, in milliseconds. */
  pauseMs: number;
  /** Called if a round failed other than by close(). */
  onFailed: (error: unknown) => void;
}

/** Background work repeated on request: one round at a time, and at most one waiting. */
export class RecurringTask {
  /** Requests a round, immediately or after the pause. */
  readonly soon: () => void;
  readonly #options: RecurringTaskOptions;
  readonly #abort = new AbortController();
  readonly #throttled: ReturnType<typeof throttled>;
  #unsubscribe: (() => void)[] = [];
  #rounds: Promise<void> = Promise.resolve();
  #waiting = false;

  constructor(options: RecurringTaskOptions) {
    this.#options = options;
    this.#throttled = throttled(options.pauseMs, () => this.#begin());
    this.soon = () => this.#throttled();
  }

  /** Keeps subscriptions until close(). */
  until(unsubscribe: readonly (() => void)[]): void {
    this.#unsubscribe.push(...unsubscribe);
  }

  /** Resolves when no round is running or waiting. */
  idle(): Promise<void> {
    return this.#rounds;
  }

  /** Ends the subscriptions and the running round. */
  async close(): Promise<void> {
    for (const end of this.#unsubscribe.splice(0)) end();
    this.#throttled.cancel();
    this.#abort.abort();
    await this.#rounds;
  }

  #begin(): void {
    const { signal } = this.#abort;
    if (this.#waiting || signal.aborted) return;
    this.#waiting = true;
    this.#rounds = this.#rounds.then(async () => {
      this.#waiting = false;
      const { work, onFailed } = this.#options;
      try {
        if (!signal.aborted) await work(signal);
      } catch (error) {
        if (!signal.aborted) onFailed(error);
      }
    });
  }
}
