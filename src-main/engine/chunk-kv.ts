import { guarded, guardedAsync } from './call.ts';
import type { ErrorCode } from '../../src-shared/errors.ts';
import type { KvDtype, NativeChunk } from './native.ts';

/** One chunk's KV cache: in memory, in a file, or still arriving (Model.receiveChunk). */
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
  /** The same in another number format, from f16; it must be disposed of too. CHUNK_CORRUPT, CHUNK_UNREADABLE. */
  async converted(dtype: KvDtype): Promise<ChunkKv> {
    return new ChunkKv(await guardedAsync(() => this.native.converted(dtype)));
  }
  /** Passes in the next bytes of an arriving file. CHUNK_CORRUPT: the chunk is then unusable. */
  receive(bytes: Uint8Array): void {
    guarded(() => this.native.receive(bytes));
  }
  /** The rest will not arrive: an append that waits for a layer fails with this error. */
  fail(code: ErrorCode, message: string): void {
    this.native.fail(code, message);
  }
  dispose(): void {
    this.native.dispose();
  }
}
