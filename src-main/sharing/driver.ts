import type { FileHandle } from 'node:fs/promises';

export { SharingError } from './failures.ts';

/**
 * A value to write: its size in bytes, and its content in pieces of any size. The pieces can be read more than once.
 */
export interface ValueSource {
  readonly bytes: number;
  pieces(): AsyncIterable<Buffer>;
}

/** The first `bytes` of an open file, `each` bytes at a time. */
export async function* piecesOf(file: FileHandle, bytes: number, each: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes; at += each) {
    const piece = Buffer.alloc(Math.min(each, bytes - at));
    const { bytesRead } = await file.read(piece, 0, piece.length, at);
    if (bytesRead < piece.length) throw new Error('a chunk file was cut while it was read');
    yield piece;
  }
}

/**
 * Storage for values shared by several machines (docs/drivers.md). Names have 64 hexadecimal digits; a value has at
 * least one byte. Calls overlap. A failed call rejects with the error of its system or server, or with a SharingError
 * where that error does not tell the reason; it is not retried, and nothing is printed. A call ends soon after its
 * signal is aborted, if the system permits.
 */
export interface Driver {
  /** Larger values are not written. */
  readonly largestBytes: number;
  /**
   * Sizes in bytes of the values that exist, in one round trip (or one concurrent request per name). Rejects if the
   * storage is unreachable: this call is also the circuit breaker's probe.
   */
  sizes(names: readonly string[], signal: AbortSignal): Promise<Map<string, number>>;
  /** Reads at least one byte. Returns fewer if the value ends earlier, none if it ends before `from` or is missing. */
  read(name: string, from: number, bytes: number, signal: AbortSignal): Promise<Uint8Array>;
  /**
   * Readers see the complete value or none; after a failed or aborted write, what they saw before. An existing value
   * may stay unless `over` is set.
   */
  write(name: string, value: ValueSource, signal: AbortSignal, over?: boolean): Promise<void>;
  /** A missing value is not an error. */
  remove(name: string, signal: AbortSignal): Promise<void>;
  /** Closes connections, so that calls in progress fail now; the next call reconnects. */
  reset(): void;
}

const NAME = /^[0-9a-f]{64}$/;

export function isName(text: string): boolean {
  return NAME.test(text);
}
