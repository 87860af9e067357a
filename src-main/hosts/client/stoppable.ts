import { throwIfAborted } from '../../platform/abort.ts';

/** Runs work that another procedure stops: called when the signal aborts. ABORTED before it starts. */
export async function stoppable<T>(
  signal: AbortSignal | undefined,
  stop: () => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  throwIfAborted(signal);
  const onAbort = (): void => void stop().catch(() => undefined); // its work reports what happened
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await work();
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}
