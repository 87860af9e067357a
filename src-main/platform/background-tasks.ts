import { isAborted } from './abort.ts';
import type { Gate } from './gate.ts';

interface BackgroundTasksOptions {
  /** Questions take priority: they interrupt the current task, which restarts afterwards. */
  gate: Gate;
  /** Called if a task failed other than by stop(). */
  onFailed?: ((error: unknown) => void) | undefined;
}

/**
 * Runs tasks after an answer to speed up the next one: one at a time, at the lowest priority. Nobody waits for them, so
 * a failure only loses the benefit, and stop() drops unfinished tasks.
 */
export class BackgroundTasks {
  readonly #options: BackgroundTasksOptions;
  #abort = new AbortController();
  #tail: Promise<void> = Promise.resolve();

  constructor(options: BackgroundTasksOptions) {
    this.#options = options;
  }

  /** Adds a task. It must be repeatable and end soon once its signal is aborted. */
  add(work: (signal: AbortSignal) => Promise<void>): void {
    const { signal } = this.#abort;
    this.#tail = this.#tail.then(() => this.#do(work, signal));
  }

  /** Resolves when no tasks are left. */
  idle(): Promise<void> {
    return this.#tail;
  }

  /** Drops the tasks added so far; tasks added later run again. */
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
