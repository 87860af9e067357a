import { SharingError } from './failures.ts';

/** Timeout: two seconds for every call, plus a millisecond per thousand bytes, the throughput of a poor network. */
function limitMs(bytes: number): number {
  return 2000 + bytes / 1000;
}

/**
 * Limits calls to the time that their bytes take on a poor network. A call that exceeds it is aborted and abandoned:
 * system calls on a network drive cannot be cancelled. SharingError 'timeout'.
 */
export class Asking {
  #left = 0;

  /** Number of abandoned calls that have not ended: another call would hang like them. */
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
