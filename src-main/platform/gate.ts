import { KvasirError } from '../../src-shared/errors.ts';
import { isAborted, throwIfAborted } from './abort.ts';

/**
 * Who may use the model now. A question never waits for more than the layer that is being computed: foreground work
 * stops the background work that is running, which starts anew afterwards.
 *
 * Foreground work begins in call order, what people wait for before what programs ask: one after another, or beside each other what
 * may share the model, which then computes in turns. Jobs run while there is none, background work while there is neither.
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

  /**
   * Work that somebody waits for. `shared`: it neither changes nor unloads the model, and others of its kind may run beside it.
   * `forProgram`: it was asked by a program. `signal` ends its wait, and nothing of it is kept: ABORTED.
   */
  async foreground<T>(
    work: () => Promise<T>,
    { shared = false, forProgram = false, signal }: ForegroundOptions = {},
  ): Promise<T> {
    throwIfAborted(signal);
    this.#foreground++;
    for (const controller of this.#running.keys()) controller.abort(new Interrupted());
    try {
      await this.#turns.begin({ shared, forProgram, signal });
      try {
        return await work();
      } finally {
        this.#turns.end(forProgram);
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

interface ForegroundOptions {
  shared?: boolean;
  forProgram?: boolean;
  signal?: AbortSignal | undefined;
}

interface Waiting {
  shared: boolean;
  go: () => void;
}

/** Who asks: how many of them run, and who waits, in call order. */
class Askers {
  running = 0;
  readonly waiting: Waiting[] = [];
}

/** Who of the foreground runs: people before programs, each in call order, and beside each other only what shares. */
class ForegroundTurns {
  readonly #atOnce: () => number;
  readonly #people = new Askers();
  readonly #programs = new Askers();
  /** Whether what runs lets others in. */
  #shared = true;

  constructor(atOnce: () => number) {
    this.#atOnce = atOnce;
  }

  begin({ shared = false, forProgram = false, signal }: ForegroundOptions): Promise<undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const { waiting } = this.#askers(forProgram);
    const entry = {
      shared,
      go: () => {
        signal?.removeEventListener('abort', leave);
        resolve(undefined);
      },
    };
    const leave = (): void => {
      waiting.splice(waiting.indexOf(entry), 1);
      reject(new KvasirError('ABORTED', 'It was stopped before it began.'));
      this.#next(); // what it kept from beginning may begin
    };
    signal?.addEventListener('abort', leave, { once: true });
    waiting.push(entry);
    this.#next();
    return promise;
  }

  end(forProgram: boolean): void {
    this.#askers(forProgram).running--;
    this.#next();
  }

  #next(): void {
    for (;;) {
      const askers = this.#people.waiting.length > 0 ? this.#people : this.#programs;
      const [first] = askers.waiting;
      if (!first || !this.#mayBegin(first, askers)) return;
      askers.waiting.shift();
      askers.running++;
      this.#shared = first.shared;
      first.go();
    }
  }

  /** Where several share the model, people do not wait for programs that have it either. */
  #mayBegin({ shared }: Waiting, askers: Askers): boolean {
    const running = this.#people.running + this.#programs.running;
    if (running === 0) return true;
    const atOnce = this.#atOnce();
    const counted = askers === this.#people && atOnce > 1 ? askers.running : running;
    return this.#shared && shared && counted < atOnce;
  }

  #askers(forProgram: boolean): Askers {
    return forProgram ? this.#programs : this.#people;
  }
}

class Interrupted extends Error {}
