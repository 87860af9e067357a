import { KvasirError, isErrorCode } from '../../src-shared/errors.ts';
import type { NativeAbort, NativeAddon, NativeProgress } from './native.ts';

export interface CallOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: NativeProgress) => void) | undefined;
}

/** An error that names the chunk segment it occurred in. */
export interface ChunkError extends KvasirError {
  chunkIndex?: number;
}

/** Converts native errors, which carry code and message, into KvasirError. */
function toKvasirError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof KvasirError) return error;
  const { code, advice, chunkIndex } = error as Error & {
    code?: unknown;
    advice?: unknown;
    chunkIndex?: unknown;
  };
  if (!isErrorCode(code)) return error;
  const typed: ChunkError = new KvasirError(code, error.message, typeof advice === 'string' ? advice : '', {
    cause: error,
  });
  if (typeof chunkIndex === 'number') typed.chunkIndex = chunkIndex;
  return typed;
}

/** A synchronous call into the addon that throws typed errors. */
export function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw toKvasirError(error);
  }
}

export async function guardedAsync<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toKvasirError(error);
  }
}

/** A call that a signal can abort: native code polls a flag. */
export async function withAbort<T>(
  addon: Pick<NativeAddon, 'createAbort'>,
  signal: AbortSignal | undefined,
  call: (abort: NativeAbort) => Promise<T>,
): Promise<T> {
  const abort = addon.createAbort();
  const onAbort = (): void => abort.abort();
  if (signal?.aborted) abort.abort();
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await guardedAsync(() => call(abort));
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}
