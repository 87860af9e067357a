import { open } from 'node:fs/promises';
import { KvasirError } from '../../src-shared/errors.ts';
import type { ChunkKv } from '../engine/engine.ts';
import { throwIfAborted, unlessAborted } from '../platform/abort.ts';
import { messageOf } from '../platform/failure.ts';
import type { Logger } from '../platform/logger.ts';
import { codeOf } from './errors.ts';
import { ranges } from './ranges.ts';
import type { SharedTier, SharedValue } from './shared-tier.ts';
import { TransferMeter, type Transfer } from './transfer-meter.ts';
import type { ChunkFiles, ChunkOpener, Lease, SharedStats } from './types.ts';
import { requireChunk } from './verify.ts';

/** Opens chunks while they arrive. A Model satisfies this. */
type ChunkReceiver = Required<Pick<ChunkOpener, 'receiveChunk'>>;

interface SharedParts {
  tier: SharedTier;
  files: ChunkFiles;
  log: Logger;
  /** Whether it is on this disk by now. */
  has: (key: string) => boolean;
  /** Stores the file that `write` creates, within the budget; `write` returns its size in bytes. */
  keep: (
    key: string,
    bytes: number,
    write: (temp: string) => Promise<number>,
    label?: string,
  ) => Promise<void>;
}

/** A chunk arriving in memory; once complete it is also stored on this disk. */
interface ChunkArrival {
  readonly opener: ChunkReceiver;
  /** Resolves when its header has arrived, or the transfer has failed. */
  readonly opened: Promise<undefined>;
  /** Set once its header has arrived. */
  chunk: ChunkKv | undefined;
  /** Resolves when it is stored or the transfer has failed. Never rejects. */
  ended: Promise<void>;
  leases: number;
  /** Its model is no longer in use. */
  stopped: boolean;
  /** No new leases: disposed with the last lease. */
  leaving: boolean;
}

/** Above this the results are dropped and looked up again. */
const MOST_LOCATED = 100_000;

/**
 * The store's part of the shared tier. acquire() serves chunks that locate() found there: their layers are used while
 * they arrive, and are then stored on this disk. Nothing here makes a caller fail: chunks that the tier does not
 * deliver are computed.
 */
export class SharedChunks {
  readonly counts: SharedStats = { hits: 0, fetched: 0, bytes: 0, corrupt: 0, failed: 0 };
  readonly #parts: SharedParts;
  readonly #located = new Set<string>();
  readonly #arriving = new Map<string, ChunkArrival>();
  readonly #fetching = new Map<string, Promise<boolean>>();
  readonly #listeners = new Set<(transfer: Transfer) => void>();
  readonly #meter = new TransferMeter((transfer) => {
    for (const listener of this.#listeners) listener(transfer);
  });
  readonly #closing = new AbortController();

  constructor(parts: SharedParts) {
    this.#parts = parts;
  }

  get available(): boolean {
    return this.#parts.tier.available && !this.#closing.signal.aborted;
  }

  /** Called with the throughput of each transfer. Returns a function that unsubscribes. */
  onTransfer(listener: (transfer: Transfer) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** The keys that are in the tier and not on this disk. One round trip for all. */
  async locate(keys: readonly string[]): Promise<ReadonlySet<string>> {
    const { tier, has } = this.#parts;
    const missing = [...new Set(keys)].filter((key) => !has(key));
    if (!this.available || missing.length === 0) return new Set();
    const found = await tier.has(missing);
    if (this.#located.size > MOST_LOCATED) this.#located.clear();
    for (const key of missing) {
      if (found.has(key)) this.#located.add(key);
      else this.#located.delete(key);
    }
    return found;
  }

  /** Starts fetching those of these chunks that locate() found, concurrently, ahead of acquire(). */
  bring(keys: readonly string[], opener: ChunkOpener): void {
    for (const key of keys) void this.#begin(key, opener);
  }

  /**
   * Fetches a chunk that locate() found to this disk ahead of acquire(), which can join the transfer. False if it is
   * not here afterwards. Never rejects.
   */
  async ahead(key: string, opener: ChunkOpener): Promise<boolean> {
    await this.#begin(key, opener)?.ended;
    return this.#parts.has(key);
  }

  /** Leases a chunk that locate() found, as soon as its header has arrived. */
  async lease(key: string, opener: ChunkOpener): Promise<Lease | undefined> {
    const arriving = this.#begin(key, opener);
    if (!arriving) return undefined;
    arriving.leases++;
    await arriving.opened;
    const { chunk } = arriving;
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      arriving.leases--;
      settle(arriving);
    };
    if (!chunk) {
      release();
      return undefined;
    }
    this.counts.hits++;
    return { key, chunk, tier: 'shared', bytes: chunk.bytes, prefetched: false, release };
  }

  /**
   * Copies a chunk to this disk; `label` as in put(). False if it is not available. `signal` ends only this caller's
   * wait: others may be waiting for the same chunk, and the data is useful next time. ABORTED, DISK_FULL,
   * STORE_READ_ONLY.
   */
  async fetch(key: string, label?: string, signal?: AbortSignal): Promise<boolean> {
    throwIfAborted(signal);
    let fetching = this.#fetching.get(key);
    if (!fetching) {
      fetching = this.#fetch(key, label).finally(() => this.#fetching.delete(key));
      this.#fetching.set(key, fetching);
    }
    return unlessAborted(fetching, signal);
  }

  /** Measures the tier with the beginning of one of its values. */
  async probe(key: string): Promise<void> {
    const started = performance.now();
    try {
      const value = await this.#parts.tier.open(key, this.#closing.signal);
      if (!value) return;
      try {
        await this.#measured(value, async (parts) => {
          await parts.next();
          this.#meter.opened(performance.now() - started);
          await parts.next();
        });
      } finally {
        value.close();
      }
    } catch (error) {
      this.#failed(key, error);
    }
  }

  /** Offers a chunk written here to the tier. If the tier is unreachable it is queued and sent later. */
  offer(key: string, path: string): void {
    const { tier } = this.#parts;
    if (tier.writable) tier.offer(key, path);
  }

  /** Resolves when no transfer uses this opener, so that it may be disposed. Its leases must be released. */
  async forget(opener: object): Promise<void> {
    const mine = [...this.#arriving.values()].filter((arriving) => arriving.opener === opener);
    for (const arriving of mine) arriving.stopped = true;
    await Promise.all(mine.map(async ({ ended }) => ended));
  }

  /** Resolves when no transfer is in progress. */
  async idle(): Promise<void> {
    while (this.#arriving.size + this.#fetching.size > 0)
      await Promise.allSettled([
        ...[...this.#arriving.values()].map(async ({ ended }) => ended),
        ...this.#fetching.values(),
      ]);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.idle();
  }

  #begin(key: string, opener: ChunkOpener): ChunkArrival | undefined {
    const known = this.#arriving.get(key);
    if (known) return known.opener === opener ? known : undefined;
    if (!this.available || !this.#located.has(key) || this.#parts.has(key) || !canReceive(opener))
      return undefined;
    const { promise: opened, resolve: isOpen } = Promise.withResolvers<undefined>();
    const ended = Promise.resolve();
    const arriving: ChunkArrival = {
      opener,
      opened,
      ended,
      chunk: undefined,
      leases: 0,
      stopped: false,
      leaving: false,
    };
    arriving.ended = this.#arrive(key, arriving, isOpen).finally(() => {
      isOpen(undefined);
      this.#arriving.delete(key);
      arriving.leaving = true;
      settle(arriving);
    });
    this.#arriving.set(key, arriving);
    return arriving;
  }

  async #arrive(key: string, arriving: ChunkArrival, isOpen: (_: undefined) => void): Promise<void> {
    try {
      const value = await this.#parts.tier.open(key, this.#closing.signal);
      if (!value) {
        this.#located.delete(key);
        return;
      }
      try {
        await this.#measured(value, async (parts) => {
          for await (const bytes of parts) {
            if (arriving.stopped) throw new KvasirError('ABORTED', 'The model is no longer in use.');
            if (arriving.chunk) arriving.chunk.receive(bytes);
            else arriving.chunk = arriving.opener.receiveChunk(key, bytes, value.bytes);
            isOpen(undefined);
          }
        });
      } finally {
        value.close();
      }
      await this.#keep(key, value.bytes, arriving.chunk);
    } catch (error) {
      arriving.chunk?.fail('SHARED_TIER_FAILED', messageOf(error));
      this.#failed(key, error);
    }
  }

  /** The data has arrived either way; failing to store it is not an error. */
  async #keep(key: string, bytes: number, chunk: ChunkKv | undefined): Promise<void> {
    try {
      if (chunk) await this.#parts.keep(key, bytes, (temp) => chunk.save(temp));
    } catch (error) {
      this.#parts.log.warn('A chunk of the shared cache could not be stored.', {
        key,
        error: messageOf(error),
      });
    }
  }

  async #fetch(key: string, label: string | undefined): Promise<boolean> {
    if (!this.available) return false;
    await this.#arriving.get(key)?.ended;
    if (this.#parts.has(key)) return true;
    let value: SharedValue | undefined;
    try {
      value = await this.#parts.tier.open(key, this.#closing.signal);
    } catch (error) {
      this.#failed(key, error);
    }
    if (!value) return false;
    const opened = value;
    try {
      await this.#parts.keep(key, opened.bytes, (temp) => this.#copy(key, opened, temp), label);
      this.counts.fetched++;
      return true;
    } catch (error) {
      if (!isTiersFault(error)) throw error;
      this.#failed(key, error);
      return false;
    } finally {
      value.close();
    }
  }

  /** Writes the value to a file and verifies all of it. */
  async #copy(key: string, value: SharedValue, temp: string): Promise<number> {
    const file = await open(temp, 'w');
    try {
      await this.#measured(value, async (parts) => {
        for await (const bytes of parts) await file.writeFile(bytes);
      });
      await file.sync();
    } finally {
      await file.close();
    }
    await requireChunk(this.#parts.files, temp, key);
    return value.bytes;
  }

  /** Consumes a value's parts and measures the time that takes. */
  async #measured(
    value: SharedValue,
    take: (parts: AsyncGenerator<Uint8Array, void>) => Promise<void>,
  ): Promise<void> {
    const parts = this.#counted(value);
    try {
      await take(parts);
    } finally {
      await parts.return();
    }
  }

  async *#counted(value: SharedValue): AsyncGenerator<Uint8Array, void> {
    this.#meter.begin();
    try {
      for await (const bytes of ranges(value)) {
        this.counts.bytes += bytes.length;
        this.#meter.received(bytes.length);
        yield bytes;
      }
    } finally {
      this.#meter.end();
    }
  }

  #failed(key: string, error: unknown): void {
    const { tier, log } = this.#parts;
    this.#located.delete(key);
    if (codeOf(error) === 'ABORTED') return;
    const isCorrupt = codeOf(error) === 'CHUNK_CORRUPT';
    this.counts[isCorrupt ? 'corrupt' : 'failed']++;
    if (isCorrupt) tier.reportCorrupt(key);
    log.warn('A chunk of the shared cache cannot be used.', { key, error: messageOf(error) });
  }
}

function settle({ leaving, leases, chunk }: ChunkArrival): void {
  if (leaving && leases === 0) chunk?.dispose();
}

function canReceive(opener: ChunkOpener): opener is ChunkOpener & ChunkReceiver {
  return opener.receiveChunk !== undefined;
}

/** As opposed to errors of this disk. */
function isTiersFault(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'SHARED_TIER_FAILED' || code === 'ABORTED' || code.startsWith('CHUNK_');
}
