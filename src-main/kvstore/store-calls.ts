import { markSuspect } from '../platform/damaged-database.ts';
import { isCorruptDatabase, toStoreError } from './errors.ts';
import type { Layout } from './files.ts';

/** The public calls of a store: each is refused after close(), which waits for those in progress. */
export class StoreCalls {
  readonly #layout: Layout;
  readonly #running = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Refuses further calls. */
  close(): void {
    this.#isClosed = true;
  }

  /** Resolves when no call is in progress. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  /** Runs a public method and converts environment errors. */
  async run<T>(method: string, body: () => Promise<T>): Promise<T> {
    this.requireOpen(method);
    const call = body();
    this.#running.add(call);
    try {
      return await call;
    } catch (error) {
      throw this.typed(error);
    } finally {
      this.#running.delete(call);
    }
  }

  /** TypeError after close(). */
  requireOpen(method: string): void {
    if (this.#isClosed) throw new TypeError(`ChunkStore.${method}: the store is closed.`);
  }

  /** Converts an environment error. Index damage found while in use is repaired at the next start. */
  typed(error: unknown): unknown {
    if (isCorruptDatabase(error)) markSuspect(this.#layout.index);
    return toStoreError(error, this.#layout.dir);
  }
}
