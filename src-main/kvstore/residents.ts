import type { ChunkKv } from '../engine/engine.ts';
import { messageOf } from './errors.ts';
import type { ChunkOpener, StoreLog } from './types.ts';

/** An open chunk: leased, in memory, or both; otherwise it waits to be read into memory. */
export interface Resident {
  readonly key: string;
  /** The model that opened it; its memory is that model's. */
  readonly opener: ChunkOpener;
  readonly chunk: ChunkKv;
  leases: number;
  /** Bytes that count against the RAM budget: all of the KV, from the moment it begins to be read in; else 0. */
  ramBytes: number;
  /** Set while the KV is being read in; nobody uses the chunk meanwhile. */
  pulling: Promise<void> | undefined;
  /** Not to be found any more; disposed at the last release. */
  dropped: boolean;
  /** Lowest goes first when memory is short: what was never used before what was, and of that the last brought in. */
  rank: number;
}

export interface ResidentsOptions {
  budgetBytes: number;
  /** Called when reading the KV in fails: the file is bad or gone. */
  onPullFailed: (key: string, error: unknown) => void;
  log: StoreLog;
}

/**
 * Wait after the last release before reading into memory, in milliseconds: the release often comes right before the
 * first token is sampled, and that must not queue behind a background read.
 */
const PULL_DELAY_MS = 50;

/**
 * The open chunks and the RAM tier. Invariants: `bytes` is at most the budget, unless a lower budget was set while what
 * is over it is leased; a leased chunk is never disposed; every chunk handed in is disposed exactly once.
 */
export class Residents {
  readonly #byKey = new Map<string, Resident>();
  /** Dropped but still leased or being read in. */
  readonly #leaving = new Set<Resident>();
  readonly #options: ResidentsOptions;
  #budget: number;
  #bytes = 0;
  #lastUsed = 0;
  #lastPrefetched = 0;
  #waiting: Resident[] = [];
  #timer: NodeJS.Timeout | undefined;
  #work: Promise<void> | undefined;

  constructor(options: ResidentsOptions) {
    this.#options = options;
    this.#budget = options.budgetBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }
  get budgetBytes(): number {
    return this.#budget;
  }
  /** Chunks in memory. */
  get entries(): number {
    let count = 0;
    for (const resident of this.#byKey.values()) if (resident.ramBytes > 0) count++;
    return count;
  }

  isInRam(key: string): boolean {
    return (this.#byKey.get(key)?.ramBytes ?? 0) > 0;
  }

  /** Leases the open chunk of a key, if this opener has one. Waits while it is being read into memory. */
  async lease(key: string, opener: ChunkOpener): Promise<Resident | undefined> {
    await this.#byKey.get(key)?.pulling;
    const resident = this.#byKey.get(key);
    if (resident?.opener !== opener) return undefined;
    resident.leases++;
    return resident;
  }

  /** Takes over a newly opened chunk and leases it. */
  add(key: string, opener: ChunkOpener, chunk: ChunkKv): Resident {
    const other = this.#byKey.get(key);
    if (other?.opener === opener && !other.pulling) {
      // Two callers opened it at once; one open chunk is enough.
      this.#dispose(chunk);
      other.leases++;
      return other;
    }
    this.drop(key);
    const resident: Resident = {
      key,
      opener,
      chunk,
      leases: 1,
      ramBytes: 0,
      pulling: undefined,
      dropped: false,
      rank: 0,
    };
    this.#byKey.set(key, resident);
    return resident;
  }

  release(resident: Resident): void {
    if (--resident.leases > 0) return;
    if (resident.dropped) {
      this.#settle(resident);
      return;
    }
    resident.rank = ++this.#lastUsed;
    if (resident.ramBytes > 0) {
      this.#shrinkTo(this.#budget);
      return;
    }
    if (resident.chunk.bytes > this.#budget) {
      this.drop(resident.key);
      return;
    }
    this.#waiting.push(resident);
    this.#timer ??= setTimeout(() => void this.idle(), PULL_DELAY_MS).unref();
  }

  /** Whether this much can be read in without dropping anything. */
  hasRoom(bytes: number): boolean {
    return this.#bytes + bytes <= this.#budget;
  }

  /**
   * Ends a lease that was taken to bring the chunk into memory ahead of its use, and does so if there is free room and
   * nobody else has it; true when it is in memory then.
   */
  async prefetch(resident: Resident): Promise<boolean> {
    const { chunk, leases, dropped, ramBytes } = resident;
    if (leases > 1 || dropped || ramBytes > 0) {
      this.release(resident);
      return ramBytes > 0;
    }
    resident.leases = 0;
    resident.rank = --this.#lastPrefetched;
    if (this.hasRoom(chunk.bytes)) await this.#pull(resident);
    else this.drop(resident.key);
    return this.isInRam(resident.key);
  }

  /** Forgets a key's open chunk; disposes it now, or at its last release. */
  drop(key: string): void {
    const resident = this.#byKey.get(key);
    if (!resident) return;
    this.#byKey.delete(key);
    resident.dropped = true;
    this.#leaving.add(resident);
    this.#settle(resident);
  }

  /** Drops everything an opener brought in; resolves when no read for it is under way. */
  async forget(opener: ChunkOpener): Promise<void> {
    await this.#dropWhere((resident) => resident.opener === opener);
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
    this.#shrinkTo(bytes);
  }

  /** Resolves when all that was waiting is in memory, or found not to fit. */
  async idle(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#work !== undefined || this.#waiting.length > 0) {
      this.#work ??= this.#pullWaiting().finally(() => (this.#work = undefined));
      await this.#work;
    }
  }

  async #dropWhere(applies: (resident: Resident) => boolean): Promise<void> {
    for (const resident of [...this.#byKey.values()]) if (applies(resident)) this.drop(resident.key);
    await Promise.all([...this.#leaving].filter(applies).map(async (resident) => resident.pulling));
  }

  /** One at a time: a background read should not take the disk from a question. */
  async #pullWaiting(): Promise<void> {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const moot = next.leases > 0 || next.dropped || next.ramBytes > 0;
      if (!moot) await this.#pull(next);
    }
  }

  async #pull(resident: Resident): Promise<void> {
    const { bytes } = resident.chunk;
    if (bytes > this.#budget || !this.#shrinkTo(this.#budget - bytes)) {
      this.drop(resident.key);
      return;
    }
    resident.ramBytes = bytes;
    this.#bytes += bytes;
    let failure: { error: unknown } | undefined;
    resident.pulling = resident.chunk.pullIn().catch((error: unknown) => {
      failure = { error };
    });
    await resident.pulling;
    resident.pulling = undefined;
    this.#settle(resident);
    if (!failure || resident.dropped) return;
    this.drop(resident.key);
    this.#options.onPullFailed(resident.key, failure.error);
  }

  /** Disposes chunks nobody uses, lowest rank first, until at most `bytes` are left; false if it cannot. */
  #shrinkTo(bytes: number): boolean {
    if (this.#bytes <= bytes) return true;
    for (const resident of [...this.#byKey.values()].sort((a, b) => a.rank - b.rank)) {
      if (this.#bytes <= bytes) break;
      if (resident.ramBytes > 0 && resident.leases === 0) this.drop(resident.key);
    }
    return this.#bytes <= bytes;
  }

  /** Disposes a dropped chunk once nothing uses it. */
  #settle(resident: Resident): void {
    if (!resident.dropped || resident.leases > 0 || resident.pulling) return;
    this.#leaving.delete(resident);
    this.#bytes -= resident.ramBytes;
    resident.ramBytes = 0;
    this.#dispose(resident.chunk);
  }

  #dispose(chunk: ChunkKv): void {
    try {
      chunk.dispose();
    } catch (error) {
      this.#options.log('warn', 'A chunk could not be disposed.', { error: messageOf(error) });
    }
  }
}
