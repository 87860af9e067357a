import { setTimeout as wait } from 'node:timers/promises';
import type { Driver, ValueSource } from '../../src-main/sharing/driver.ts';

/** A driver whose reads share a link with a fixed byte rate. Writes and lookups are not throttled. */
export class ThrottledDriver implements Driver {
  readonly #driver: Driver;
  readonly #bytesPerSecond: number;
  /** Time at which the link becomes free. */
  #freeAt = 0;

  constructor(driver: Driver, bytesPerSecond: number) {
    this.#driver = driver;
    this.#bytesPerSecond = bytesPerSecond;
  }

  get largestBytes(): number {
    return this.#driver.largestBytes;
  }

  sizes(names: readonly string[], signal: AbortSignal): Promise<Map<string, number>> {
    return this.#driver.sizes(names, signal);
  }

  async read(name: string, from: number, bytes: number, signal: AbortSignal): Promise<Uint8Array> {
    this.#freeAt = Math.max(performance.now(), this.#freeAt) + (bytes / this.#bytesPerSecond) * 1000;
    const arrivesAt = this.#freeAt;
    const read = await this.#driver.read(name, from, bytes, signal);
    const left = arrivesAt - performance.now();
    if (left > 0) await wait(left, undefined, { signal });
    return read;
  }

  write(name: string, value: ValueSource, signal: AbortSignal, over?: boolean): Promise<void> {
    return this.#driver.write(name, value, signal, over);
  }

  remove(name: string, signal: AbortSignal): Promise<void> {
    return this.#driver.remove(name, signal);
  }

  reset(): void {
    this.#driver.reset();
  }
}
