import { guardedAsync } from './call.ts';
import type { KvDtype, NativeChunk } from './native.ts';

/** One chunk's KV, in memory or in a file. */
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
  dispose(): void {
    this.native.dispose();
  }
}
