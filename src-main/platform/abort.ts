import { KvasirError } from '../../src-shared/errors.ts';

/** ABORTED when the caller asked to stop. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new KvasirError('ABORTED', 'The work was stopped before it was done.');
}

/** Whether work failed only because it was stopped. */
export function isAborted(error: unknown): boolean {
  return error instanceof KvasirError && error.code === 'ABORTED';
}

/** What a promise gives, unless ABORTED comes first: the work itself goes on. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  throwIfAborted(signal);
  if (!signal) return work;
  const aborted = Promise.withResolvers<never>();
  const stop = (): void =>
    aborted.reject(new KvasirError('ABORTED', 'The work was stopped before it was done.'));
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Lets events (a key press, a socket) be handled between two steps of long synchronous work. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
