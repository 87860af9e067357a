import type { KvKeyTable } from '../catalogue/kv-key-table.ts';
import type { KvDtype } from '../engine/engine.ts';
import { chunkKey } from '../kvstore/store.ts';
import { yieldToEventLoop } from '../platform/abort.ts';

/** Keys computed before yielding to other work: about ten milliseconds. */
const SLICE = 500;

/** Keys of all chunks in the catalogue, stored there: computing 50,000 takes seconds, reading them a moment. */
export class ChunkKeys {
  readonly #table: KvKeyTable;
  #running: Promise<void> | undefined;

  constructor(table: KvKeyTable) {
    this.#table = table;
  }

  /** Computes the missing keys of chunks for these formats. */
  async update(dtypes: readonly KvDtype[]): Promise<void> {
    await this.#running;
    this.#running = this.#makeMissing(dtypes).finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #makeMissing(dtypes: readonly KvDtype[]): Promise<void> {
    for (const dtype of dtypes) {
      const missing = this.#table.missing(dtype);
      for (let done = 0; done < missing.length; done += SLICE) {
        this.#table.put(missing.slice(done, done + SLICE), dtype, (chunk) => chunkKey({ ...chunk, dtype }));
        await yieldToEventLoop();
      }
    }
  }
}
