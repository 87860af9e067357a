import { isAborted } from '../../platform/abort.ts';

interface QueueWorkerOptions {
  /** Does one piece of work; false when there is none now. */
  step: (signal: AbortSignal) => Promise<boolean>;
  /** A step failed; gives after how many milliseconds to try again without being asked, undefined for at once. */
  onError: (error: unknown) => number | undefined;
}

/** Does one kind of work, a step at a time, until there is none; then waits to be told of more. */
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

  /** There may be work. */
  kick(): void {
    this.#kicked = true;
    this.#wake?.();
  }

  /** Ends the step that is running, which must be one that can be done again. */
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
