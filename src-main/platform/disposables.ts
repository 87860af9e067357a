import { traceOf } from './failure.ts';
import type { Logger } from './logger.ts';

interface Disposable {
  close(): unknown;
}

/** What has been opened, in this order; closed in reverse. */
export class Disposables {
  readonly #log: Logger;
  readonly #opened: Disposable[] = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  add<T extends Disposable>(opened: T): T {
    this.#opened.push(opened);
    return opened;
  }

  /** A failure is logged and does not prevent the others; rejects with the first. Idempotent. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const opened of this.#opened.splice(0).toReversed()) {
      try {
        await opened.close();
      } catch (error) {
        this.#log.error('not-closed', { error: traceOf(error) });
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
