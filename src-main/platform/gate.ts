import { KvasirError } from '../../src-shared/errors.ts';
import { isAborted, throwIfAborted } from './abort.ts';

/**
 * Schedules use of the model. A question never waits for more than the layer being computed: foreground work stops the
 * running background work, which restarts afterwards.
 *
 * Foreground work begins with people before programs: one after another, or concurrently if the work may share the
 * model, which then computes in turns. Among people, and among programs, the work with the most at hand begins first;
 * equals begin in call order. Jobs run when there is no foreground work, background work when there
 * is neither.
 */
export class Gate {
  #foreground = 0;
  #jobs = 0;
  readonly #turns = new ForegroundTurns();
  #idle: (() => void)[] = [];
  /** Interruptible work, by kind; jobs interrupt background work too. */
  readonly #running = new Map<AbortController, 'job' | 'background'>();

  /** How many may share the current model; 1 at first. */
  set atOnce(count: number) {
    this.#turns.atOnce = count;
  }

  /**
   * Work that somebody waits for. `shared`: it neither changes nor unloads the model, and may run alongside other
   * shared work. `forProgram`: a program requested it. `signal` cancels the wait: ABORTED.
   */
  async foreground<T>(
    work: () => Promise<T>,
    { shared = false, forProgram = false, signal, onWait }: ForegroundOptions = {},
  ): Promise<T> {
    throwIfAborted(signal);
    await this.#begin({ shared, forProgram, signal, onWait });
    try {
      return await work();
    } finally {
      this.#end(forProgram);
    }
  }

  /** Within a person's shared foreground work: others may begin while `work` runs; then waits for the turn again. */
  async pause<T>(work: () => Promise<T>): Promise<T> {
    this.#end(false);
    try {
      return await work();
    } finally {
      await this.#begin({ shared: true, onWait: () => () => Infinity }); // all of its prompt is in memory
    }
  }

  /**
   * A step of long work that somebody watches: it yields to questions like background work and is then run again, but
   * background work yields to it. Rejects with ABORTED once `signal` is aborted.
   */
  async job<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    this.#jobs++;
    for (const [controller, kind] of this.#running)
      if (kind === 'background') controller.abort(new InterruptedError());
    try {
      return await this.#interruptible('job', work, signal);
    } finally {
      this.#jobs--;
      if (this.#jobs === 0) this.#wake();
    }
  }

  /**
   * Work that can wait and be repeated: it must end soon once its signal is aborted, and is then run again when the
   * foreground is done. Rejects with ABORTED once `signal` is aborted.
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
      // Checked again after each wait: a question may have arrived by then.
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
        const interrupted = controller.signal.reason instanceof InterruptedError && signal?.aborted !== true;
        if (!(interrupted && isAborted(error))) throw error;
      } finally {
        this.#running.delete(controller);
        signal?.removeEventListener('abort', stop);
      }
    }
  }

  async #begin(how: ForegroundOptions): Promise<void> {
    this.#foreground++;
    for (const controller of this.#running.keys()) controller.abort(new InterruptedError());
    try {
      await this.#turns.begin(how);
    } catch (error) {
      this.#left();
      throw error;
    }
  }

  #end(forProgram: boolean): void {
    this.#turns.end(forProgram);
    this.#left();
  }

  #left(): void {
    this.#foreground--;
    if (this.#foreground === 0) this.#wake();
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

/** How much of what work reads is in memory now, in bytes. Called each time that other work may begin. */
export type AtHand = () => number;

interface ForegroundOptions {
  shared?: boolean;
  forProgram?: boolean;
  signal?: AbortSignal | undefined;
  /** Called if the work cannot begin now. Without a result, none of what it reads is at hand. */
  onWait?: (() => AtHand) | undefined;
}

interface WaitingCaller {
  shared: boolean;
  atHand: AtHand;
  /** How many that came later began before it. */
  overtaken: number;
  go: () => void;
}

/**
 * How many later callers may begin before one. A count, not a time: its wait grows by that many answers at most,
 * however long they take, and the order does not depend on the machine's speed.
 */
const MOST_OVERTAKEN = 4;

/** One kind of caller: the number running, and those waiting, in call order. */
class CallerQueue {
  running = 0;
  readonly waiting: WaitingCaller[] = [];

  /**
   * Removes the caller that begins next. Exclusive work, such as a change of the model, is not overtaken. A caller has
   * been overtaken at most as often as the first one, which came before it, so only that one has to be asked.
   */
  take(): WaitingCaller | undefined {
    const [first] = this.waiting;
    const end = this.waiting.findIndex(({ shared }) => !shared);
    const equals =
      first && first.overtaken < MOST_OVERTAKEN ? this.waiting.slice(0, end < 0 ? undefined : end) : [];
    const atHand = equals.map((caller) => caller.atHand());
    const next = Math.max(0, atHand.indexOf(Math.max(...atHand)));
    for (const caller of this.waiting.slice(0, next)) caller.overtaken++;
    return this.waiting.splice(next, 1)[0];
  }
}

/** Decides which foreground work runs: people before programs, concurrently only for shared work. */
class ForegroundTurns {
  atOnce = 1;
  readonly #people = new CallerQueue();
  readonly #programs = new CallerQueue();
  /** Whether the running work is shared. */
  #shared = true;

  begin({ shared = false, forProgram = false, signal, onWait }: ForegroundOptions): Promise<undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const { waiting } = this.#askers(forProgram);
    const entry: WaitingCaller = {
      shared,
      atHand: () => 0,
      overtaken: 0,
      go: () => {
        signal?.removeEventListener('abort', leave);
        resolve(undefined);
      },
    };
    const leave = (): void => {
      waiting.splice(waiting.indexOf(entry), 1);
      reject(new KvasirError('ABORTED', 'It was stopped before it began.'));
      this.#next(); // work that it blocked may begin
    };
    signal?.addEventListener('abort', leave, { once: true });
    waiting.push(entry);
    this.#next();
    if (onWait && waiting.includes(entry)) entry.atHand = onWait();
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
      askers.running++;
      this.#shared = first.shared; // as are all that may overtake it
      askers.take()?.go();
    }
  }

  /** If several share the model, people do not wait for programs that use it either. */
  #mayBegin({ shared }: WaitingCaller, askers: CallerQueue): boolean {
    const running = this.#people.running + this.#programs.running;
    if (running === 0) return true;
    const counted = askers === this.#people && this.atOnce > 1 ? askers.running : running;
    return this.#shared && shared && counted < this.atOnce;
  }

  #askers(forProgram: boolean): CallerQueue {
    return forProgram ? this.#programs : this.#people;
  }
}

class InterruptedError extends Error {}
