import type { ChildProcess } from 'node:child_process';
import { throwIfAborted } from './abort.ts';

/** How a host starts a process. What it gives must do what is used here of a child process. */
export type SpawnChild = () => ChildProcess;

interface AskOptions {
  /** What to reject with when the process ends without a reply, by how it ended. */
  ended: (how: string) => Error;
  /** ABORTED, and the process is ended. */
  signal?: AbortSignal | undefined;
  /** After so many milliseconds without a reply it is ended, too. Default: never. */
  limitMs?: number | undefined;
}

/** Asks a process one question and ends it: for work that can end its process, or hang in it. */
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
