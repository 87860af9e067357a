import { setTimeout as delay } from 'node:timers/promises';
import { SharingError } from './failures.ts';

/** Timeout: two seconds for every call, plus a millisecond per thousand bytes, the throughput of a poor network. */
function limitMs(bytes: number): number {
  return 2000 + bytes / 1000;
}

/**
 * Limits calls to the time that their bytes take on a poor network. A call that exceeds it is aborted and abandoned:
 * system calls on a network drive cannot be cancelled. SharingError 'timeout'.
 */
export class CallLimiter {
  #left = 0;

  /** Number of abandoned calls that have not ended: another call would hang like them. */
  get stuck(): number {
    return this.#left;
  }

  async within<T>(bytes: number, call: (signal: AbortSignal) => Promise<T>, stop?: AbortSignal): Promise<T> {
    stop?.throwIfAborted();
    const done = new AbortController();
    const signal = stop ? AbortSignal.any([stop, done.signal]) : done.signal;
    const state = { ended: false };
    const work = call(signal).finally(() => (state.ended = true));
    const limit = delay(limitMs(bytes), undefined, { signal }).then(() => {
      throw new SharingError('timeout', 'no answer in time');
    });
    try {
      return await Promise.race([work, limit]);
    } finally {
      if (!state.ended) {
        this.#left++;
        const back = () => this.#left--;
        work.then(back, back);
      }
      done.abort();
    }
  }
}
