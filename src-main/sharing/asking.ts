import { SharingError } from './failures.ts';

/** Everything has two seconds; a thousand bytes, which is what a poor network brings in that time, one millisecond more. */
function limitMs(bytes: number): number {
  return 2000 + bytes / 1000;
}

/**
 * Waits for a call no longer than its bytes take on a poor network. What does not end then is told to, and left behind: the system's
 * calls on a network drive cannot be ended. SharingError 'timeout'.
 */
export class Asking {
  #left = 0;

  /** Calls that were left behind and have not ended: another one would wait as they do. */
  get stuck(): number {
    return this.#left;
  }

  async within<T>(bytes: number, call: (signal: AbortSignal) => Promise<T>, stop?: AbortSignal): Promise<T> {
    stop?.throwIfAborted();
    const abort = new AbortController();
    const state = { ended: false };
    const work = call(abort.signal).finally(() => (state.ended = true));
    let give: (error: unknown) => void = () => undefined;
    const given = new Promise<never>((_, reject) => (give = reject));
    const timer = setTimeout(() => give(new SharingError('timeout', 'no answer in time')), limitMs(bytes));
    const stopped = (): void => give(stop?.reason);
    stop?.addEventListener('abort', stopped, { once: true });
    try {
      return await Promise.race([work, given]);
    } finally {
      clearTimeout(timer);
      stop?.removeEventListener('abort', stopped);
      if (!state.ended) this.#leave(work, abort);
    }
  }

  #leave(work: Promise<unknown>, abort: AbortController): void {
    this.#left++;
    const back = (): void => {
      this.#left--;
    };
    work.then(back, back);
    abort.abort();
  }
}
