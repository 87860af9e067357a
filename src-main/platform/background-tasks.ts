import { isAborted } from './abort.ts';
import type { Gate } from './gate.ts';

interface BackgroundTasksOptions {
  /** Questions come first: they interrupt what is being done, which starts anew afterwards. */
  gate: Gate;
  /** Told when a piece of work failed other than by stop(). */
  onFailed?: ((error: unknown) => void) | undefined;
}

/**
 * What is done once the answer is given, for the next one's sake: piece by piece, behind all other work. Nobody waits for it, so a
 * failure only means that nothing was gained, and stop() gives up what is not done.
 */
export class BackgroundTasks {
  readonly #options: BackgroundTasksOptions;
  #abort = new AbortController();
  #tail: Promise<void> = Promise.resolve();

  constructor(options: BackgroundTasksOptions) {
    this.#options = options;
  }

  /** Adds a piece of work. It can be repeated, and must end soon once its signal is aborted. */
  add(work: (signal: AbortSignal) => Promise<void>): void {
    const { signal } = this.#abort;
    this.#tail = this.#tail.then(() => this.#do(work, signal));
  }

  /** Resolves when nothing is left to do. */
  idle(): Promise<void> {
    return this.#tail;
  }

  /** Gives up what was added so far; what is added later is done again. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#tail;
    this.#abort = new AbortController();
  }

  async #do(work: (signal: AbortSignal) => Promise<void>, stopped: AbortSignal): Promise<void> {
    try {
      await this.#options.gate.background(work, stopped);
    } catch (error) {
      if (!isAborted(error)) this.#options.onFailed?.(error);
    }
  }
}
