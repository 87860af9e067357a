import { isAborted } from '../../platform/abort.ts';

interface QueueWorkerOptions {
  /** Does one piece of work; false when there is none now. */
  step: (signal: AbortSignal) => Promise<boolean>;
  /** Called when a step failed; returns the milliseconds until an automatic retry, undefined for an immediate one. */
  onError: (error: unknown) => number | undefined;
}

/** Does one kind of work, step by step, until there is none; then waits for kick(). */
export class QueueWorker {
  readonly #options: QueueWorkerOptions;
  #abort = new AbortController();
  #loop: Promise<void> | undefined;
  #stopped = false;
  #kicked = false;
  #wake: (() => void) | undefined;

  constructor(options: QueueWorkerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** There may be new work. */
  kick(): void {
    this.#kicked = true;
    this.#wake?.();
  }

  /** Ends the running step, which must be repeatable. */
  interrupt(): void {
    this.#abort.abort();
    this.#abort = new AbortController();
    this.kick();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.interrupt();
    await this.#loop;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      this.#kicked = false;
      let retryMs: number | undefined;
      try {
        if (await this.#options.step(this.#abort.signal)) continue;
        retryMs = Infinity;
      } catch (error) {
        if (isAborted(error)) continue;
        retryMs = this.#options.onError(error);
      }
      if (retryMs !== undefined) await this.#rest(retryMs);
    }
  }

  #rest(ms: number): Promise<void> {
    if (this.#kicked || this.#stopped) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = ms === Infinity ? undefined : setTimeout(() => this.#wake?.(), ms);
      this.#wake = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve();
      };
    });
  }
}
