import { isAborted, throwIfAborted } from './abort.ts';

/**
 * Who may use the model now. A question never waits for more than the layer that is being computed: foreground work
 * stops the background work that is running, which starts anew afterwards.
 *
 * Foreground work begins in call order: one after another, or beside each other what may share the model, which then computes in
 * turns. Jobs run while there is none, background work while there is neither.
 */
export class Gate {
  #foreground = 0;
  #jobs = 0;
  readonly #turns: ForegroundTurns;
  #idle: (() => void)[] = [];
  /** What can be interrupted, and by jobs too. */
  readonly #running = new Map<AbortController, 'job' | 'background'>();

  /** `atOnce`: how many may share the model that is in use now. */
  constructor(atOnce: () => number = () => 1) {
    this.#turns = new ForegroundTurns(atOnce);
  }

  /** Work that somebody waits for. `shared`: it neither changes nor unloads the model, and others of its kind may run beside it. */
  async foreground<T>(work: () => Promise<T>, { shared = false } = {}): Promise<T> {
    this.#foreground++;
    for (const controller of this.#running.keys()) controller.abort(new Interrupted());
    try {
      await this.#turns.begin(shared);
      try {
        return await work();
      } finally {
        this.#turns.end();
      }
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

/** Who of the foreground runs: in call order, and beside each other only what shares. */
class ForegroundTurns {
  readonly #atOnce: () => number;
  readonly #queue: { shared: boolean; go: () => void }[] = [];
  #running = 0;
  /** Whether what runs lets others in. */
  #shared = true;

  constructor(atOnce: () => number) {
    this.#atOnce = atOnce;
  }

  begin(shared: boolean): Promise<void> {
    return new Promise((go) => {
      this.#queue.push({ shared, go });
      this.#next();
    });
  }

  end(): void {
    this.#running--;
    this.#next();
  }

  #next(): void {
    for (let first; (first = this.#queue[0]);) {
      const fits = this.#shared && first.shared && this.#running < this.#atOnce();
      if (this.#running > 0 && !fits) return;
      this.#queue.shift();
      this.#running++;
      this.#shared = first.shared;
      first.go();
    }
  }
}

class Interrupted extends Error {}
