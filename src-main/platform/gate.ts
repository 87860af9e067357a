import { isAborted, throwIfAborted } from './abort.ts';

/**
 * Who may use the model now. A question never waits for more than the layer that is being computed: foreground work
 * stops the background work that is running, which starts anew afterwards.
 *
 * Foreground work runs one after another in call order. Jobs run while there is none, background work while there is neither.
 */
export class Gate {
  #foreground = 0;
  #jobs = 0;
  #tail: Promise<unknown> = Promise.resolve();
  #idle: (() => void)[] = [];
  /** What can be interrupted, and by jobs too. */
  readonly #running = new Map<AbortController, 'job' | 'background'>();

  /** Work that somebody waits for. */
  async foreground<T>(work: () => Promise<T>): Promise<T> {
    this.#foreground++;
    for (const controller of this.#running.keys()) controller.abort(new Interrupted());
    const turn = this.#tail.then(work);
    this.#tail = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.#foreground--;
      if (this.#foreground === 0) this.#wake();
    }
  }

  /**
   * A step of long work that somebody watches: it gives way to questions as background work does, and is run again then,
   * but background work gives way to it. Rejects with ABORTED once `signal` is.
   */
  async job<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#jobs++;
    for (const [controller, kind] of this.#running)
      if (kind === 'background') controller.abort(new Interrupted());
    try {
      return await this.#interruptible('job', work, signal);
    } finally {
      this.#jobs--;
      if (this.#jobs === 0) this.#wake();
    }
  }

  /**
   * Work that can wait and can be repeated: it must end soon once its signal is aborted, and is then run again when the
   * foreground is done. Rejects with ABORTED once `signal` is.
   */
  background<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return this.#interruptible('background', work, signal);
  }

  async #interruptible<T>(
    kind: 'job' | 'background',
    work: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    for (;;) {
      throwIfAborted(signal);
      // Asked again after each wait: by the time a wait ends, a question may have come in.
      while (this.#foreground > 0 || (kind === 'background' && this.#jobs > 0)) {
        await this.#quiet(signal);
        throwIfAborted(signal);
      }
      const controller = new AbortController();
      const stop = (): void => controller.abort();
      signal?.addEventListener('abort', stop, { once: true });
      this.#running.set(controller, kind);
      try {
        return await work(controller.signal);
      } catch (error) {
        const interrupted = controller.signal.reason instanceof Interrupted && signal?.aborted !== true;
        if (!(interrupted && isAborted(error))) throw error;
      } finally {
        this.#running.delete(controller);
        signal?.removeEventListener('abort', stop);
      }
    }
  }

  #wake(): void {
    for (const wake of this.#idle.splice(0)) wake();
  }

  #quiet(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      this.#idle.push(wake);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }
}

class Interrupted extends Error {}
