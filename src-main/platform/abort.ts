import { KvasirError } from '../../src-shared/errors.ts';

/** ABORTED if the caller asked to stop. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new KvasirError('ABORTED', 'The work was stopped before it finished.');
}

/** Whether work failed only because it was aborted. */
export function isAborted(error: unknown): boolean {
  return error instanceof KvasirError && error.code === 'ABORTED';
}

/** A promise's result, unless ABORTED comes first; the work itself continues. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  throwIfAborted(signal);
  if (!signal) return work;
  const aborted = Promise.withResolvers<never>();
  const stop = (): void =>
    aborted.reject(new KvasirError('ABORTED', 'The work was stopped before it finished.'));
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
