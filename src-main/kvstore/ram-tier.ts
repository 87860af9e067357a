import type { ChunkKv } from '../engine/engine.ts';
import type { Logger } from '../platform/logger.ts';
import { messageOf } from '../platform/failure.ts';
import { ClassQueues } from './eviction/class-queues.ts';
import type { EvictionCandidate, EvictionPolicy } from './eviction/policy.ts';
import type { ChunkRow } from './index-db.ts';
import type { ChunkOpener, EntryKind, PrefetchRoom } from './types.ts';

/** An open chunk: leased, in memory, or both; otherwise it is waiting to be read into memory. */
export interface OpenChunk extends EvictionCandidate {
  readonly key: string;
  readonly kind: EntryKind;
  /** Id of the folder with its file when it was opened. */
  readonly folder: string;
  /** The model that opened it and owns its memory. */
  readonly opener: ChunkOpener;
  readonly chunk: ChunkKv;
  leases: number;
  /** Bytes that count towards the RAM budget: all of the KV from the start of reading on; else 0. */
  ramBytes: number;
  /** Set while the KV is being read; nobody uses the chunk meanwhile. */
  pulling: Promise<void> | undefined;
  /** No longer findable; disposed at the last release. */
  dropped: boolean;
  /** When it was prefetched, if it has not been used since; milliseconds since 1970. */
  prefetchedAt: number | undefined;
}

interface RamTierOptions {
  budgetBytes: number;
  /** Maximum share of prefix blocks. */
  prefixShare: number;
  policy: (kind: EntryKind) => EvictionPolicy;
  clock: () => number;
  /** Called if reading the KV fails: the file is bad or missing. */
  onPullFailed: (key: string, error: unknown) => void;
  log: Logger;
}

/** Space needed for an entry. */
interface SpaceRequest {
  kind: EntryKind;
  bytes: number;
}

const NOTHING: SpaceRequest = { kind: 'chunk', bytes: 0 };

function incoming({ kind, chunk }: OpenChunk): SpaceRequest {
  return { kind, bytes: chunk.bytes };
}

/**
 * Delay between the last release and reading into memory, in milliseconds: the release often comes right before the
 * first token is sampled, which must not wait for a background read.
 */
const PULL_DELAY_MS = 50;

/**
 * The open chunks and the RAM tier. Invariants: `bytes` is at most the budget, unless a lower budget was set while the
 * excess is leased; a leased chunk is never disposed; every chunk passed in is disposed exactly once. A single long
 * file, because the invariants span all of it.
 */
export class RamTier {
  readonly #byKey = new Map<string, OpenChunk>();
  /** Dropped but still leased or being read. */
  readonly #leaving = new Set<OpenChunk>();
  readonly #options: RamTierOptions;
  #budget: number;
  readonly #bytes: Record<EntryKind, number> = { chunk: 0, prefix: 0 };
  /** Number of chunks with KV in memory. */
  #inRam = 0;
  /** The chunks in memory. */
  readonly #queues: Record<EntryKind, ClassQueues<OpenChunk>> = {
    chunk: new ClassQueues(),
    prefix: new ClassQueues(),
  };
  #waiting: OpenChunk[] = [];
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> | undefined;

  constructor(options: RamTierOptions) {
    this.#options = options;
    this.#budget = options.budgetBytes;
  }

  get bytes(): number {
    return this.#bytes.chunk + this.#bytes.prefix;
  }
  get prefixBytes(): number {
    return this.#bytes.prefix;
  }
  get budgetBytes(): number {
    return this.#budget;
  }
  /** Chunks in memory; like the bytes, this includes dropped ones still in use. */
  get entries(): number {
    return this.#inRam;
  }

  isInRam(key: string): boolean {
    return (this.#byKey.get(key)?.ramBytes ?? 0) > 0;
  }

  /** Whether a chunk is in use, in memory, or about to be read into it. */
  isOpen(key: string): boolean {
    return this.#byKey.has(key);
  }

  /** Leases the open chunk of a key, if this opener has one. Waits while it is being read into memory. */
  async lease(key: string, opener: ChunkOpener): Promise<OpenChunk | undefined> {
    await this.#byKey.get(key)?.pulling;
    const openChunk = this.#byKey.get(key);
    if (openChunk?.opener !== opener) return undefined;
    openChunk.leases++;
    return openChunk;
  }

  /** Takes ownership of a newly opened chunk and leases it. */
  add(row: ChunkRow, opener: ChunkOpener, chunk: ChunkKv): OpenChunk {
    const { key, kind, folder, lastUsedAt, order, offset } = row;
    const other = this.#byKey.get(key);
    if (other?.opener === opener && !other.pulling) {
      // Two callers opened it concurrently; one open chunk is enough.
      this.#dispose(chunk);
      other.leases++;
      return other;
    }
    this.drop(key);
    const openChunk: OpenChunk = {
      key,
      kind,
      folder,
      opener,
      chunk,
      leases: 1,
      ramBytes: 0,
      pulling: undefined,
      dropped: false,
      prefetchedAt: undefined,
      class: row.class,
      lastUsedAt,
      order,
      offset,
    };
    this.#byKey.set(key, openChunk);
    return openChunk;
  }

  use(openChunk: OpenChunk, use: EvictionCandidate): void {
    const queue = this.#queues[openChunk.kind];
    const isQueued = queue.remove(openChunk);
    Object.assign(openChunk, use);
    if (isQueued) queue.add(openChunk);
  }

  release(openChunk: OpenChunk): void {
    if (--openChunk.leases > 0) return;
    if (openChunk.dropped) {
      this.#settle(openChunk);
      return;
    }
    if (openChunk.ramBytes > 0) {
      this.#makeRoom();
      return;
    }
    if (openChunk.chunk.bytes > this.#mostOf(openChunk.kind)) {
      this.drop(openChunk.key);
      return;
    }
    this.#waiting.push(openChunk);
    this.#timer ??= setTimeout(() => void this.idle(), PULL_DELAY_MS).unref();
  }

  /** Whether this many bytes can be read without dropping anything. */
  hasRoom({ kind, bytes }: SpaceRequest): boolean {
    return this.#bytes[kind] + bytes <= this.#mostOf(kind) && this.bytes + bytes <= this.#budget;
  }

  /**
   * Ends a lease that was taken for prefetching, and reads the chunk into memory if nobody else uses it and there is
   * room: free space, or space made by dropping others. True if it is then in memory.
   */
  async prefetch(openChunk: OpenChunk, room: PrefetchRoom): Promise<boolean> {
    const { leases, dropped, ramBytes } = openChunk;
    if (leases > 1 || dropped || ramBytes > 0) {
      this.release(openChunk);
      return ramBytes > 0;
    }
    openChunk.leases = 0;
    if (room === 'made' || this.hasRoom(incoming(openChunk))) await this.#pull(openChunk);
    else this.drop(openChunk.key);
    const isThere = this.isInRam(openChunk.key);
    if (isThere) openChunk.prefetchedAt = this.#options.clock();
    return isThere;
  }

  /**
   * Reads a leased chunk into memory, dropping others for it, if it fits and nobody else is reading its file. It stays
   * leased; false if its file is bad.
   */
  async promote(openChunk: OpenChunk): Promise<boolean> {
    await openChunk.pulling;
    const { ramBytes, leases, dropped } = openChunk;
    if (ramBytes > 0 || leases > 1 || dropped || !this.#makeRoom(incoming(openChunk))) return true;
    return this.#pull(openChunk);
  }

  /** Drops a key's open chunk; disposes it now, or at its last release. */
  drop(key: string): void {
    const openChunk = this.#byKey.get(key);
    if (!openChunk) return;
    this.#byKey.delete(key);
    this.#queues[openChunk.kind].remove(openChunk);
    openChunk.dropped = true;
    this.#leaving.add(openChunk);
    this.#settle(openChunk);
  }

  /** Drops everything an opener opened; resolves when no read for it is in progress. */
  async forget(opener: object): Promise<void> {
    await this.#dropWhere((openChunk) => openChunk.opener === opener);
  }

  /** Drops everything. Leased chunks are disposed at their release. */
  async close(): Promise<void> {
    this.#budget = 0;
    clearTimeout(this.#timer);
    await this.#dropWhere(() => true);
    await this.#work;
  }

  setBudget(bytes: number): void {
    this.#budget = bytes;
    this.#makeRoom();
  }

  /** Resolves when all waiting chunks are in memory or found not to fit. */
  async idle(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#work !== undefined || this.#waiting.length > 0) {
      this.#work ??= this.#pullWaiting().finally(() => (this.#work = undefined));
      await this.#work;
    }
  }

  async #dropWhere(applies: (openChunk: OpenChunk) => boolean): Promise<void> {
    for (const openChunk of [...this.#byKey.values()]) if (applies(openChunk)) this.drop(openChunk.key);
    await Promise.all([...this.#leaving].filter(applies).map(async (openChunk) => openChunk.pulling));
  }

  /** One at a time: background reads should leave the disk to questions. */
  async #pullWaiting(): Promise<void> {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const moot = next.leases > 0 || next.dropped || next.ramBytes > 0;
      if (!moot) await this.#pull(next);
    }
  }

  /** False on failure; if the chunk does not fit it is dropped. */
  async #pull(openChunk: OpenChunk): Promise<boolean> {
    if (!this.#makeRoom(incoming(openChunk))) {
      this.drop(openChunk.key);
      return true;
    }
    openChunk.ramBytes = openChunk.chunk.bytes;
    this.#bytes[openChunk.kind] += openChunk.ramBytes;
    this.#inRam++;
    this.#queues[openChunk.kind].add(openChunk);
    let failure: { error: unknown } | undefined;
    openChunk.pulling = openChunk.chunk.pullIn().catch((error: unknown) => {
      failure = { error };
    });
    await openChunk.pulling;
    openChunk.pulling = undefined;
    this.#settle(openChunk);
    if (!failure || openChunk.dropped) return !failure;
    this.drop(openChunk.key);
    this.#options.onPullFailed(openChunk.key, failure.error);
    return false;
  }

  #mostOf(kind: EntryKind): number {
    return kind === 'prefix' ? this.#budget * this.#options.prefixShare : this.#budget;
  }

  /**
   * Disposes unused chunks, least valuable first, until an entry fits; false if it cannot. Order: prefix blocks above
   * their share, then chunks, and other blocks only if no chunks are left.
   */
  #makeRoom(entry: SpaceRequest = NOTHING): boolean {
    const fits = (kind: EntryKind): boolean =>
      this.#bytes[kind] + (entry.kind === kind ? entry.bytes : 0) <= this.#mostOf(kind);
    const allFit = (): boolean => this.bytes + entry.bytes <= this.#budget;
    if (entry.bytes > this.#mostOf(entry.kind)) return false;
    if (!fits('prefix')) this.#dropIdle('prefix', () => fits('prefix'));
    if (!allFit()) this.#dropIdle('chunk', allFit);
    if (!allFit()) this.#dropIdle('prefix', allFit);
    return fits('prefix') && allFit();
  }

  #dropIdle(kind: EntryKind, enough: () => boolean): void {
    const { policy, clock } = this.#options;
    for (const openChunk of this.#queues[kind].leastWorthFirst(policy(kind), clock())) {
      if (enough()) return;
      if (openChunk.leases === 0) this.drop(openChunk.key);
    }
  }

  /** Disposes a dropped chunk once nothing uses it. */
  #settle(openChunk: OpenChunk): void {
    if (!openChunk.dropped || openChunk.leases > 0 || openChunk.pulling) return;
    this.#leaving.delete(openChunk);
    this.#bytes[openChunk.kind] -= openChunk.ramBytes;
    if (openChunk.ramBytes > 0) this.#inRam--;
    openChunk.ramBytes = 0;
    this.#dispose(openChunk.chunk);
  }

  #dispose(chunk: ChunkKv): void {
    try {
      chunk.dispose();
    } catch (error) {
      this.#options.log.warn('A chunk could not be disposed.', { error: messageOf(error) });
    }
  }
}
