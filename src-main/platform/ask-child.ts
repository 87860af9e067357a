import type { ChildProcess } from 'node:child_process';
import { throwIfAborted } from './abort.ts';

/** Starts the host's kind of process; the result must support the ChildProcess functions used here. */
export type SpawnChild = () => ChildProcess;

interface AskOptions {
  /** Creates the error for a process that ended without a reply, from how it ended. */
  ended: (how: string) => Error;
  /** Kills the process; rejects with ABORTED. */
  signal?: AbortSignal | undefined;
  /** Timeout in milliseconds, after which the process is killed. Default: none. */
  limitMs?: number | undefined;
}

/** Sends a process one request and ends it: for work that can crash or hang its process. */
export async function askChild<Reply>(
  spawn: SpawnChild,
  request: object,
  { ended, signal, limitMs }: AskOptions,
): Promise<Reply> {
  throwIfAborted(signal);
  const child = spawn();
  let limit: NodeJS.Timeout | undefined;
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const stop = (): void => {
    try {
      throwIfAborted(signal);
    } catch (error) {
      reject(error);
    }
  };
  try {
    child.on('message', (reply) => resolve(reply as Reply));
    child.on('error', (error) => reject(ended(error.message)));
    child.on('close', (code, how) => reject(ended(how ?? `exit code ${code ?? '?'}`)));
    signal?.addEventListener('abort', stop, { once: true });
    if (limitMs !== undefined)
      limit = setTimeout(() => reject(ended(`no result after ${limitMs / 1000} seconds`)), limitMs);
    child.send(request, (error) => {
      if (error) reject(ended(error.message));
    });
    return await promise;
  } finally {
    clearTimeout(limit);
    signal?.removeEventListener('abort', stop);
    child.kill('SIGKILL');
  }
}
