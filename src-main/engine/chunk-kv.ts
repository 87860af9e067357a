import { guarded, guardedAsync } from './call.ts';
import type { ErrorCode } from '../../src-shared/errors.ts';
import type { KvDtype, NativeChunk } from './native.ts';

/** One chunk's KV, in memory, in a file, or arriving from elsewhere. */
export class ChunkKv {
  readonly native: NativeChunk;

  constructor(native: NativeChunk) {
    this.native = native;
  }

  get tokens(): Int32Array {
    return this.native.tokens;
  }
  get dtype(): KvDtype {
    return this.native.dtype;
  }
  get bytes(): number {
    return this.native.bytes;
  }
  get inMemory(): boolean {
    return this.native.inMemory;
  }
  save(path: string): Promise<number> {
    return guardedAsync(() => this.native.save(path));
  }
  pullIn(): Promise<void> {
    return guardedAsync(() => this.native.pullIn());
  }
  /** The next bytes of its file, where it arrives (Model.receiveChunk). CHUNK_CORRUPT: then it is of no use any more. */
  receive(bytes: Uint8Array): void {
    guarded(() => this.native.receive(bytes));
  }
  /** No more will come: an append that waits for a layer ends with this error. */
  fail(code: ErrorCode, message: string): void {
    this.native.fail(code, message);
  }
  dispose(): void {
    this.native.dispose();
  }
}
