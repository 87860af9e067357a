import type { Failure } from '../../src-shared/contract/common.ts';
import type { SharedTier, SharedValue } from '../kvstore/shared-tier.ts';
import { throwIfAborted } from '../platform/abort.ts';
import type { Logger } from '../platform/logger.ts';
import { CallLimiter } from './call-limiter.ts';
import { Breaker } from './breaker.ts';
import type { Driver } from './driver.ts';
import { framesOf, HEADER_BYTES, plainBytes, sealedRange, type Frames } from './encryption.ts';
import { failureFor, failureOfSharing, isOut, reasonOf, sharingFailed, SharingError } from './failures.ts';
import { Figures } from './figures.ts';
import { nameOf } from './names.ts';
import { Presence } from './presence.ts';
import { Semaphore } from './semaphore.ts';
import { WriteBehind } from './write-behind.ts';

export interface SharedCacheOptions {
  driver: Driver;
  /** Folder, server or bucket, for display. */
  where: string;
  writable: boolean;
  salt: string;
  /** Encryption key of values; undefined: unencrypted. */
  key?: Buffer | undefined;
  log: Logger;
  onChange: () => void;
  /** For tests: milliseconds to the circuit breaker's first probe. */
  probeMs?: number | undefined;
}

/** Cost of looking up one name, in bytes: if a server needs one request per name, very many take a while. */
const ASKED_BYTES = 10_000;
/**
 * Concurrent range reads over all values: they share the line, so each gets the time that this many of its size take.
 */
const READS_AT_ONCE = 4;
/** Any name can serve as a probe. */
const PROBE = '0'.repeat(64);

/**
 * The shared tier on top of a driver: names, encryption, presence cache, timeouts, circuit breaker, and write-behind.
 */
export class SharedCache implements SharedTier {
  readonly figures = new Figures();
  readonly #options: SharedCacheOptions;
  readonly #breaker: Breaker;
  readonly #asking = new CallLimiter();
  readonly #reads = new Semaphore(READS_AT_ONCE);
  readonly #askingToWrite = new CallLimiter();
  readonly #presence = new Presence();
  readonly #writing: WriteBehind;
  /** Keys of corrupt values: not read until they have been rewritten. */
  readonly #corrupt = new Set<string>();
  #failure: Failure | undefined;
  #closed = false;

  constructor(options: SharedCacheOptions) {
    this.#options = options;
    const { driver, log, onChange, where, key } = options;
    this.#breaker = new Breaker({
      probe: () => this.#probe(),
      firstMs: options.probeMs,
      onChange: () => {
        log.info('shared-cache', { out: this.#breaker.isOpen, where });
        if (this.#breaker.isOpen) driver.reset();
        else this.#writing.go();
        onChange();
      },
    });
    this.#writing = new WriteBehind({
      driver,
      key,
      nameOf: (chunk) => this.#name(chunk),
      isOut: () => !this.available,
      ask: (bytes, call) => this.#askToWrite(bytes, call),
      isThere: async (chunk) => (await this.has([chunk])).has(chunk),
      isWrong: (chunk) => this.#corrupt.has(chunk),
      onWritten: (chunk, bytes) => this.#written(chunk, bytes),
      onChange,
    });
  }

  get available(): boolean {
    return !this.#closed && !this.#breaker.isOpen;
  }

  get writable(): boolean {
    return this.#options.writable;
  }

  get encrypted(): boolean {
    return this.#options.key !== undefined;
  }

  /** When the next probe is due; undefined while the tier responds. */
  get outUntilMs(): number | undefined {
    return this.#breaker.untilMs;
  }

  /** Number of chunk files waiting to be written. */
  get waiting(): number {
    return this.#writing.waiting;
  }

  get failure(): Failure | undefined {
    return this.#failure;
  }

  async has(keys: readonly string[]): Promise<Set<string>> {
    if (!this.available) return new Set();
    try {
      const sizes = await this.#sizes(keys);
      return new Set(keys.filter((key) => this.#isUsable(key, sizes.get(this.#name(key)))));
    } catch {
      return new Set(); // reported by #ask
    }
  }

  async open(key: string, signal?: AbortSignal): Promise<SharedValue | undefined> {
    throwIfAborted(signal);
    if (!this.available) return undefined;
    const name = this.#name(key);
    const size = (await this.#typed(key, () => this.#sizes([key], signal), signal)).get(name);
    if (!this.#isUsable(key, size)) return undefined;
    const bytes = this.#bytesOf(size);
    if (!bytes) {
      this.reportCorrupt(key); // no value has such a size: it was truncated
      return undefined;
    }
    this.figures.read++;
    const reading = new AbortController();
    const stop = signal ? AbortSignal.any([signal, reading.signal]) : reading.signal;
    const read = this.#options.key ? this.#openSealed(name, bytes, stop) : this.#reader(name, stop);
    return {
      bytes,
      read: (from, count) => {
        if (!(from >= 0 && count >= 0 && from + count <= bytes))
          throw new TypeError('SharedValue.read: the range lies outside of the value.');
        return this.#typed(key, () => read(from, count), stop);
      },
      close: () => reading.abort(),
    };
  }

  offer(key: string, path: string): void {
    if (this.writable && !this.#closed) this.#writing.add(key, path);
  }

  reportCorrupt(key: string): void {
    if (this.#corrupt.has(key)) return;
    this.#corrupt.add(key);
    this.figures.corrupt++;
    this.#tell(failureFor('damaged', this.#options.where), { key });
  }

  /** Resolves when at most `most` files wait to be written, or when writing is currently impossible. */
  settled(most = 0): Promise<void> {
    return this.#writing.settled(most);
  }

  close(): void {
    this.#closed = true;
    this.#breaker.close();
    this.#writing.close();
    this.#options.driver.reset();
  }

  #name(key: string): string {
    return nameOf(key, this.#options.salt, this.#options.key);
  }

  #isUsable(key: string, size: number | undefined): size is number {
    return size !== undefined && !this.#corrupt.has(key);
  }

  #bytesOf(size: number): number | undefined {
    return this.#options.key ? plainBytes(size) : size;
  }

  /** Sizes of those that exist, by name. */
  async #sizes(keys: readonly string[], stop?: AbortSignal): Promise<Map<string, number>> {
    const names = keys.map((key) => this.#name(key));
    const unknown = names.filter((name) => this.#presence.get(name) === undefined);
    if (unknown.length > 0) {
      const started = performance.now();
      const found = await this.#ask(
        unknown.length * ASKED_BYTES,
        (signal) => this.#options.driver.sizes(unknown, signal),
        stop,
      );
      this.figures.asked(performance.now() - started);
      for (const name of unknown) this.#presence.set(name, found.get(name) ?? 'missing');
    }
    const known = names.map((name) => [name, this.#presence.get(name)] as const);
    return new Map(known.filter((one): one is readonly [string, number] => typeof one[1] === 'number'));
  }

  #reader(name: string, stop: AbortSignal): (from: number, bytes: number) => Promise<Uint8Array> {
    return async (from, bytes) => {
      const got = await this.#reads.run(() => this.#readRange(name, from, bytes, stop), stop);
      if (got.length === bytes) return got;
      this.#presence.forget(name);
      throw new SharingError('gone', `${got.length} of ${bytes} bytes came`);
    };
  }

  async #readRange(name: string, from: number, bytes: number, stop: AbortSignal): Promise<Uint8Array> {
    if (!this.available) throw new SharingError('unreachable', 'it did not answer others');
    const started = performance.now();
    const got = await this.#ask(
      bytes * READS_AT_ONCE,
      (signal) => this.#options.driver.read(name, from, bytes, signal),
      stop,
    );
    this.figures.gotBytes(got.length, performance.now() - started);
    return got;
  }

  #openSealed(
    name: string,
    total: number,
    stop: AbortSignal,
  ): (from: number, bytes: number) => Promise<Uint8Array> {
    const { key } = this.#options;
    if (!key) throw new Error('nothing is encrypted');
    const read = this.#reader(name, stop);
    let frames: Promise<Frames> | undefined;
    return async (from, bytes) => {
      frames ??= read(0, HEADER_BYTES).then((head) => framesOf(head, name, total, key));
      const range = sealedRange(from, bytes, total);
      const [opener, sealed] = await Promise.all([frames, read(range.from, range.bytes)]);
      return opener.open(sealed, from, bytes);
    };
  }

  /**
   * A driver call with a timeout; reports failures, and opens the circuit breaker if other calls would fail as well.
   */
  async #ask<T>(bytes: number, call: (signal: AbortSignal) => Promise<T>, stop?: AbortSignal): Promise<T> {
    try {
      return await this.#asking.within(bytes, call, stop);
    } catch (error) {
      if (stop?.aborted || this.#closed) throw error;
      this.#tell(failureOfSharing(error, this.#options.where));
      if (isOut(reasonOf(error))) this.#breaker.trip();
      throw error;
    }
  }

  /**
   * A write with a timeout. Failures are reported but do not affect reading: permissions may be read-only, and a line
   * may be too slow for uploads. No write begins while an earlier one hangs.
   */
  async #askToWrite<T>(bytes: number, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
    try {
      if (this.#askingToWrite.stuck > 0) throw new SharingError('timeout', 'an earlier write has not ended');
      return await this.#askingToWrite.within(bytes, call);
    } catch (error) {
      if (!this.#closed) this.#tell(failureOfSharing(error, this.#options.where));
      throw error;
    }
  }

  async #typed<T>(key: string, call: () => Promise<T>, stop?: AbortSignal): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throwIfAborted(stop);
      // Failures that #ask has not seen: values that cannot be decrypted. Damaged ones are rewritten.
      if (error instanceof SharingError && error.reason === 'damaged') this.reportCorrupt(key);
      else if (error instanceof SharingError && !isOut(error.reason))
        this.#tell(failureOfSharing(error, this.#options.where));
      throw sharingFailed(error, this.#options.where);
    }
  }

  async #probe(): Promise<void> {
    if (this.#asking.stuck > 0) throw new SharingError('timeout', 'an earlier call has not ended');
    await this.#asking.within(0, (signal) => this.#options.driver.sizes([PROBE], signal));
    this.#failure = undefined;
  }

  #written(key: string, bytes: number): void {
    this.figures.wrote(bytes);
    this.#failure = undefined;
    this.#corrupt.delete(key);
    this.#presence.set(this.#name(key), bytes);
    this.#options.onChange();
  }

  #tell(failure: Failure, fields: object = {}): void {
    this.#failure = failure;
    this.#options.log.warn('shared-cache-failed', { ...failure.values, message: failure.message, ...fields });
    this.#options.onChange();
  }
}
