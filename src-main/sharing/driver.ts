import type { FileHandle } from 'node:fs/promises';

/** What is to be written: so many bytes in all, in pieces of any size. It can be asked for its pieces again. */
export interface Outgoing {
  readonly bytes: number;
  pieces(): AsyncIterable<Buffer>;
}

/** The first `bytes` of an open file, `each` at a time. */
export async function* piecesOf(file: FileHandle, bytes: number, each: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes; at += each) {
    const piece = Buffer.alloc(Math.min(each, bytes - at));
    const { bytesRead } = await file.read(piece, 0, piece.length, at);
    if (bytesRead < piece.length) throw new Error('a chunk file was cut while it was read');
    yield piece;
  }
}

/**
 * Where values lie that several machines share, by names of 64 hexadecimal digits. It throws whatever its system or server says
 * (failures.ts makes sentences of that), and gives up soon once a signal is aborted, where it can.
 */
export interface Driver {
  /** A larger value is not written. */
  readonly largestBytes: number;
  /** Bytes of those that are there, in one round trip (or as many side by side as there are names). */
  sizes(names: readonly string[], signal: AbortSignal): Promise<Map<string, number>>;
  /** Fewer bytes than asked for where the value ends before, none where it is gone. */
  read(name: string, from: number, bytes: number, signal: AbortSignal): Promise<Uint8Array>;
  /** Others see all of a value or nothing. One that is there may stay, unless it was to be written `over`. */
  write(name: string, value: Outgoing, signal: AbortSignal, over?: boolean): Promise<void>;
  /** One that is not there is no error. */
  remove(name: string, signal: AbortSignal): Promise<void>;
  /** Lets go of connections, so that calls under way fail now; the next call connects anew. */
  reset(): void;
}

const NAME = /^[0-9a-f]{64}$/;

export function isName(text: string): boolean {
  return NAME.test(text);
}
