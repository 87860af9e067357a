import type { ChunkKv } from '../engine/engine.ts';
import { silentLogger, type Logger } from '../platform/logger.ts';
import { requireBudget } from './budget.ts';
import type { PrefetchOutcome } from './chunk-leases.ts';
import type { SavableChunk } from './chunk-writer.ts';
import { toStoreError } from './errors.ts';
import { requireEvictRequest } from './evict.ts';
import type { ServedTarget } from './eviction/policy.ts';
import type { Access } from './eviction/workload.ts';
import { findSimilar } from './find-similar.ts';
import type { ChunkRow } from './index-db.ts';
import { openStore, type OpenedStore } from './open-store.ts';
import type { SharedChunks } from './shared-chunks.ts';
import type { StoreCalls } from './store-calls.ts';
import { StoreFolders } from './store-folders.ts';
import { StoreParts } from './store-parts.ts';
import { storeStats } from './store-stats.ts';
import type {
  ChunkEntry,
  ChunkOpener,
  EvictReport,
  EvictRequest,
  KindTotals,
  Lease,
  LeaseSet,
  ListedEntry,
  ListFilter,
  PolicyName,
  PrefetchRoom,
  PutMeta,
  RecoveryReport,
  SimilarChunk,
  StoreOptions,
  StoreStats,
  TextIdentity,
  VerifyProgress,
  VerifyReport,
} from './types.ts';
import { verifyAll, type Fault } from './verify.ts';

export type * from './types.ts';
export type { Access } from './eviction/workload.ts';
export type { SharedTier, SharedValue } from './shared-tier.ts';
export type { Transfer } from './transfer-meter.ts';
export { chunkKey, prefixKey } from './hash.ts';
export { folderWithin, prepareFolder } from './folders.ts';

/**
 * Chunk KV in folders on disk and in memory: one file a chunk, an SQLite index, budgets, leases.
 *
 * One process owns a store at a time. Calls may overlap; those that change files or rows run one after another. The
 * class is the only interface to the store, with many short methods; its parts do the work. After close() every method
 * but close() and Lease.release() throws (or rejects with) a TypeError, those of `folders` too.
 */
export class ChunkStore {
  readonly recovery: RecoveryReport;
  /** Chunks of other machines, if a shared tier was given. */
  readonly shared: SharedChunks | undefined;
  /** The folders of chunk files. */
  readonly folders: StoreFolders;
  readonly #calls: StoreCalls;
  readonly #parts: StoreParts;
  #closing: Promise<void> | undefined;

  /**
   * Takes the store's lock, migrates the index, repairs the effects of a crash, and evicts down to the budget.
   * STORE_IN_USE, STORE_VERSION, STORE_READ_ONLY, STORE_CORRUPT, DISK_FULL.
   */
  static async open(options: StoreOptions): Promise<ChunkStore> {
    requireBudget('ChunkStore.open: diskBudgetBytes', options.diskBudgetBytes);
    requireBudget('ChunkStore.open: ramBudgetBytes', options.ramBudgetBytes);
    requireShare('ChunkStore.open: prefixShare', options.prefixShare);
    const started = performance.now();
    const { log = silentLogger, clock = Date.now } = options;
    const opened = await openStore({ ...options, log, clock });
    const store = new ChunkStore(options, opened, log);
    try {
      await store.#parts.watch.start();
      store.recovery.evicted = (await store.#parts.changes.run(() => store.#parts.tiers.shed())).entries;
    } catch (error) {
      await store.close();
      throw toStoreError(error, options.dir);
    }
    store.recovery.ms = performance.now() - started;
    log.info('The chunk store is open.', { ...store.recovery });
    return store;
  }

  private constructor(options: StoreOptions, opened: OpenedStore, log: Logger) {
    this.recovery = { ...opened.found, evicted: 0, ms: 0 };
    this.#parts = new StoreParts(options, opened, log);
    this.#calls = this.#parts.calls;
    this.shared = this.#parts.shared;
    this.folders = new StoreFolders(this.#parts);
  }

  /** Whether acquire() would look for a file; only reads the index. */
  has(key: string): boolean {
    this.#calls.requireOpen('has');
    return this.#parts.disk.row(key) !== undefined;
  }

  /** Whether a chunk is stored in a folder that is not connected now. */
  isAway(key: string): boolean {
    this.#calls.requireOpen('isAway');
    return !this.has(key) && this.#parts.disk.listed(key) !== undefined;
  }

  /** The file of a chunk; undefined if it cannot be served. */
  path(key: string): string | undefined {
    this.#calls.requireOpen('path');
    const row = this.#parts.disk.row(key);
    return row && this.#parts.disk.path(row);
  }

  /** Whether a chunk is in memory, about to be, or in use: others that need it now share what is read. Reads nothing. */
  isOpen(key: string): boolean {
    this.#calls.requireOpen('isOpen');
    return this.#parts.ramTier.isOpen(key);
  }

  /** What the model in use can be served: everything else leaves first. Absent: all entries are alike. */
  serve(target: ServedTarget | undefined): void {
    this.#calls.requireOpen('serve');
    this.#parts.served = target;
  }

  /**
   * Whether a chunk with this many bytes of KV can be stored ahead of its use, without evicting an equal. `key`: of the
   * chunk, whose earlier uses count; absent: it has none.
   */
  hasRoom(bytes: number, key?: string): boolean {
    this.#calls.requireOpen('hasRoom');
    return this.#parts.writer.hasRoom(bytes, key);
  }

  /** A search found a chunk's text, or a person opened it: worth more than what nobody asked for, stored or not. */
  found(key: string): void {
    this.#calls.requireOpen('found');
    const { disk, workload } = this.#parts;
    const [row, now] = [disk.row(key), disk.clock()];
    const name = workload.found(key, now, row);
    if (row && name !== undefined)
      disk.index.use(row, { class: name, lastUsedAt: now, order: disk.index.nextOrder(), offset: 0 }, 0);
  }

  /** A prompt needed a chunk but computed its text: for eviction that is a use, as if acquire() had been called. */
  used(key: string, access: Access): void {
    this.#calls.requireOpen('used');
    this.#parts.leases.used(key, access);
  }

  /**
   * Stores a chunk; does nothing if the key exists. The caller keeps ownership: the store neither keeps nor disposes
   * the chunk. Evicts others to fit the budget. TypeError if the chunk does not match the key. CACHE_FULL (only
   * ahead of use), DISK_FULL (also if the budget cannot hold it), STORE_READ_ONLY.
   */
  put(key: string, chunk: SavableChunk, meta: PutMeta = {}): Promise<void> {
    return this.#calls.run('put', () => this.#parts.writer.put(key, chunk, meta));
  }

  /**
   * Leases a chunk, or returns undefined if there is none to serve: never stored, evicted, of a newer format, or just
   * found corrupt (and quarantined). A chunk that shared.locate() found elsewhere is leased while it arrives. After the
   * last release the KV is read into memory in the background if the RAM budget allows. `access` is the input for the
   * eviction policy. CHUNK_MISMATCH if the opener is another model than the key's.
   */
  acquire(key: string, opener: ChunkOpener, access: Access = OTHER): Promise<Lease | undefined> {
    return this.#calls.run('acquire', () => this.#parts.leases.acquire(key, opener, access));
  }

  /**
   * Opens a file for one task that copies the data it needs; the file is neither kept open nor read into memory.
   * Returns the task's result; undefined if there is none to serve, or if the task found it CHUNK_CORRUPT or
   * CHUNK_MISMATCH: then it is quarantined.
   */
  borrow<T>(key: string, opener: ChunkOpener, task: (chunk: ChunkKv) => Promise<T>): Promise<T | undefined> {
    return this.#calls.run('borrow', () => this.#parts.leases.borrow(key, opener, task));
  }

  /**
   * Leases chunks for several upcoming uses, such as questions about the same documents, and first reads them into
   * memory, as far as the RAM budget allows: each file is read once, and every acquire() until the release finds the
   * chunk in memory. It does not count as a use. Keys may repeat. ABORTED, CHUNK_MISMATCH as acquire().
   */
  acquireMany(keys: Iterable<string>, opener: ChunkOpener, signal?: AbortSignal): Promise<LeaseSet> {
    return this.#calls.run('acquireMany', () => this.#parts.leases.acquireMany(keys, opener, signal));
  }

  /**
   * Reads a chunk into memory ahead of its use; it does not count as a use. By default it evicts nothing; with room
   * 'made', for the chunk expected next, it does. 'no-room' if it does not fit, 'missing' if there is none to serve.
   * CHUNK_MISMATCH as acquire().
   */
  prefetch(key: string, opener: ChunkOpener, room: PrefetchRoom = 'free'): Promise<PrefetchOutcome> {
    return this.#calls.run('prefetch', () => this.#parts.leases.prefetch(key, opener, room));
  }

  /** Quarantines the file of a lease that proved corrupt while its layers were read. Release the lease as usual. */
  reportCorrupt(key: string): Promise<void> {
    return this.#calls.run('reportCorrupt', () =>
      this.#parts.leases.discard(key, 'a layer failed its checksum while it was used'),
    );
  }

  /** Looks whether the folder is still connected of a lease whose layers could not be read. Release the lease as usual. */
  reportUnreadable(key: string): Promise<void> {
    return this.#calls.run('reportUnreadable', () =>
      this.#parts.leases.settle(key, {
        kind: 'unreadable',
        reason: 'a layer could not be read while it was used',
      }),
    );
  }

  /** Drops the KV that an opener read into memory; call before disposing a model. Its leases must be released. */
  forget(opener: object): Promise<void> {
    return this.#calls.run('forget', () => this.#parts.leases.forget(opener));
  }

  /** Resolves when no chunk is being read into memory, or moved between folders, in the background. */
  idle(): Promise<void> {
    return this.#calls.run('idle', async () => {
      const { shared, ramTier, tiers, changes } = this.#parts;
      if (shared) await shared.idle();
      await ramTier.idle();
      await tiers.idle();
      await changes.run(() => Promise.resolve());
    });
  }

  /** False if there is no such entry. */
  pin(key: string): boolean {
    return this.#setPinned('pin', key, true);
  }

  unpin(key: string): boolean {
    return this.#setPinned('unpin', key, false);
  }

  /** Most recently used first. */
  list(filter: ListFilter = {}): ChunkEntry[] {
    this.#calls.requireOpen('list');
    return this.#parts.disk.index.list(filter).map((row) => this.#entry(row));
  }

  /**
   * At most `limit` entries in key order, starting after `key`: a paginated listing that stays complete while entries
   * change.
   */
  after(key: string, limit: number): ListedEntry[] {
    this.#calls.requireOpen('after');
    const { disk, ramTier } = this.#parts;
    const rows = disk.index.listed(key, limit);
    // The rows are modified in place, not copied: there are tens of thousands.
    return rows.map((row) =>
      Object.assign(row, {
        pinned: row.pinned === 1,
        away: disk.isAway(row),
        inRam: ramTier.isInRam(row.key),
      }),
    );
  }

  /** The entry of a key; undefined if it is not stored. The most recent uses may not be counted yet. */
  entry(key: string): ChunkEntry | undefined {
    this.#calls.requireOpen('entry');
    const row = this.#parts.disk.row(key);
    return row && this.#entry(row);
  }

  /**
   * At most `limit` stored chunks, of the same model and format and with any lead, that have most in common with a
   * text. The caller has to find the common parts; leasing one may fail.
   */
  similar(id: TextIdentity, limit = 3): Promise<SimilarChunk[]> {
    return this.#calls.run('similar', () => findSimilar(this.#parts.disk, this.#parts.files, id, limit));
  }

  /** By model and number format. */
  totals(): KindTotals[] {
    this.#calls.requireOpen('totals');
    return this.#parts.disk.index.totals();
  }

  stats(): StoreStats {
    this.#calls.requireOpen('stats');
    return storeStats(this.#parts);
  }

  /** Reads and verifies every file; quarantines corrupt ones. Does not block other calls. ABORTED by close(). */
  verify(onProgress: (progress: VerifyProgress) => void = () => undefined): Promise<VerifyReport> {
    const { disk, files, leases, calls } = this.#parts;
    const hooks = {
      holding: <T>(key: string, task: () => Promise<T>) => leases.holding(key, task),
      settle: ({ key }: ChunkRow, fault: Fault) => leases.settle(key, fault),
      isClosing: () => calls.isClosed,
    };
    return calls.run('verify', () => verifyAll(disk, files, hooks, onProgress));
  }

  /** Removes entries; pinned and leased ones stay. */
  evict(request: EvictRequest): Promise<EvictReport> {
    return this.#calls.run('evict', () => {
      requireEvictRequest(request);
      return this.#parts.changes.run(() => this.#parts.tiers.own.evict(request));
    });
  }

  /** Changes budgets and evicts the excess. */
  setBudget(budget: { diskBytes?: number; ramBytes?: number }): Promise<EvictReport> {
    return this.#calls.run('setBudget', () => {
      const { tiers, ramTier, changes } = this.#parts;
      const { diskBytes = tiers.own.bytes, ramBytes = ramTier.budgetBytes } = budget;
      requireBudget('ChunkStore.setBudget: diskBytes', diskBytes);
      requireBudget('ChunkStore.setBudget: ramBytes', ramBytes);
      tiers.own.bytes = diskBytes;
      ramTier.setBudget(ramBytes);
      return changes.run(() => tiers.shed());
    });
  }

  /** Changes the eviction policy; both policies have seen every use. */
  setPolicy(policy: PolicyName): void {
    this.#calls.requireOpen('setPolicy');
    this.#parts.policy = policy;
  }

  /** Waits for calls in progress, writes pending data, and releases the lock. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    const { calls, shared, tiers, ramTier, changes, watch, disk, workload, lock } = this.#parts;
    calls.close();
    if (shared) await shared.close();
    tiers.close();
    await calls.settled();
    await ramTier.close();
    await changes.run(() => Promise.resolve());
    await watch.close();
    disk.index.flush();
    disk.index.keepWorkload(workload.state());
    disk.index.close();
    lock.release();
  }

  #entry(row: ChunkRow): ChunkEntry {
    const { disk, leases, ramTier } = this.#parts;
    return {
      ...row,
      pinned: row.pinned === 1,
      away: disk.isAway(row),
      leases: leases.leases.count(row.key),
      inRam: ramTier.isInRam(row.key),
    };
  }

  #setPinned(method: string, key: string, pinned: boolean): boolean {
    this.#calls.requireOpen(method);
    try {
      const { disk } = this.#parts;
      return disk.listed(key) !== undefined && disk.index.setPinned(key, pinned);
    } catch (error) {
      throw this.#calls.typed(error);
    }
  }
}

const OTHER: Access = { class: 'other' };

function requireShare(name: string, share = 0): void {
  if (!(share >= 0 && share <= 1)) throw new TypeError(`${name} must be a share from 0 to 1.`);
}
