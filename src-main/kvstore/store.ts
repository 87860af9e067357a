import { KvasirError } from '../../src-shared/errors.ts';
import type { ChunkKv } from '../engine/engine.ts';
import { markSuspect } from '../platform/damaged-database.ts';
import { messageOf } from '../platform/failure.ts';
import { silentLogger, type Logger } from '../platform/logger.ts';
import { SerialQueue } from '../platform/serial-queue.ts';
import type { DiskSpace } from '../platform/space.ts';
import { rowOf, type ChunkDisk } from './disk.ts';
import { isCorruptDatabase, toStoreError } from './errors.ts';
import { requireEvictRequest } from './evict.ts';
import { LRU, servedLast, type EvictionPolicy, type ServedTarget } from './eviction/policy.ts';
import { Workload, type Access, type WorkloadOptions } from './eviction/workload.ts';
import { isKey } from './hash.ts';
import type { StoreFs } from './files.ts';
import { FolderTiers } from './folder-tiers.ts';
import { FolderWatch } from './folder-watch.ts';
import { OWN_FOLDER, type ChunkFolder } from './folders.ts';
import type { ChunkRow } from './index-db.ts';
import type { StoreLock } from './lock.ts';
import { openStore, type OpenedStore } from './open-store.ts';
import { RamTier } from './ram-tier.ts';
import { measureReads, type ReadTime } from './read-speed.ts';
import { requireSpace } from './reserve.ts';
import { ChunkLeases, type PrefetchOutcome } from './chunk-leases.ts';
import { SharedChunks } from './shared-chunks.ts';
import { enter, findSimilar } from './find-similar.ts';
import type { SharedTier } from './shared-tier.ts';
import type {
  AddedFolder,
  ChunkEntry,
  ChunkOpener,
  EntryKind,
  EvictReport,
  EvictRequest,
  FolderRemoval,
  KindTotals,
  Lease,
  LeaseSet,
  ListedEntry,
  ListFilter,
  PolicyName,
  PrefetchRoom,
  PutMeta,
  RankedFolder,
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
 * class is long because it is the only interface to the store, with many short methods; the parts are in separate
 * files. After close() every method but close() and Lease.release() throws (or rejects with) a TypeError.
 */
export class ChunkStore {
  readonly recovery: RecoveryReport;
  /** Chunks of other machines, if a shared tier was given. */
  readonly shared: SharedChunks | undefined;
  readonly #options: StoreOptions;
  readonly #disk: ChunkDisk;
  readonly #fs: StoreFs;
  readonly #lock: StoreLock;
  readonly #tiers: FolderTiers;
  readonly #watch: FolderWatch;
  readonly #ramTier: RamTier;
  readonly #workload: Workload;
  readonly #serving: ChunkLeases;
  /** Serialises everything that changes files or rows. */
  readonly #changes = new SerialQueue();
  readonly #puts = new Map<string, Promise<void>>();
  readonly #calls = new Set<Promise<unknown>>();
  #policy: PolicyName;
  #served: ServedTarget | undefined;
  #onFolders: (() => void) | undefined;
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
      await store.#watch.start();
      store.recovery.evicted = (await store.#changes.run(() => store.#tiers.shed())).entries;
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
    this.#options = options;
    this.#disk = opened.disk;
    this.#fs = opened.fs;
    this.#lock = opened.lock;
    this.#policy = options.policy ?? 'lru';
    const { disk, fs } = opened;
    const { prefixShare = PREFIX_SHARE, files } = options;
    const { makeWorkload = (about: WorkloadOptions) => new Workload(about) } = options;
    const workload = makeWorkload({
      memoryMs: MEMORY_MS,
      remembered: REMEMBERED,
      state: disk.index.workload(),
    });
    // A prompt's blocks are useful only with all preceding ones: always evict the tail of the oldest prompt first.
    const policy = (kind: EntryKind): EvictionPolicy =>
      this.#policy === 'lru' || kind === 'prefix' ? LRU : workload;
    const ramTier = new RamTier({
      budgetBytes: options.ramBudgetBytes,
      prefixShare,
      policy,
      log,
      clock: disk.clock,
      onPullFailed: (key, error) => void this.#serving.onPullFailed(key, error),
    });
    this.#workload = workload;
    this.#ramTier = ramTier;
    this.shared = options.shared && this.#sharedChunks(options.shared, log);
    this.#serving = new ChunkLeases({
      ...{ disk, files, ramTier, workload, shared: this.shared },
      changes: this.#changes,
      onFileUse: (key, folder) => this.#tiers.used(key, folder),
    });
    const { folderPollMs: pollMs } = options;
    this.#tiers = new FolderTiers({
      ...{ disk, fs, prefixShare, changes: this.#changes },
      budgetBytes: options.diskBudgetBytes,
      added: options.folders ?? [],
      policy: (kind) => servedLast(policy(kind), this.#served),
      isInUse: (key) => this.#serving.inUse.count(key) > 0,
      onLeaving: (key) => ramTier.drop(key),
    });
    this.#watch = new FolderWatch({
      ...{ disk, files, fs, pollMs, changes: this.#changes },
      onChange: () => this.#onFolders?.(),
    });
  }

  /** Whether acquire() would look for a file; only reads the index. */
  has(key: string): boolean {
    this.#requireOpen('has');
    return this.#disk.row(key) !== undefined;
  }

  /** Whether a chunk is stored in a folder that is not connected now. */
  isAway(key: string): boolean {
    this.#requireOpen('isAway');
    return !this.has(key) && this.#disk.listed(key) !== undefined;
  }

  /** The file of a chunk; undefined if it cannot be served. */
  path(key: string): string | undefined {
    this.#requireOpen('path');
    const row = this.#disk.row(key);
    return row && this.#disk.path(row);
  }

  /** Whether a chunk is in memory, about to be, or in use: others that need it now share what is read. Reads nothing. */
  isOpen(key: string): boolean {
    this.#requireOpen('isOpen');
    return this.#ramTier.isOpen(key);
  }

  /** What the model in use can be served: everything else leaves first. Absent: all entries are alike. */
  serve(target: ServedTarget | undefined): void {
    this.#requireOpen('serve');
    this.#served = target;
  }

  /**
   * Whether a chunk with this many bytes of KV can be stored ahead of its use, without evicting an equal. `key`: of the
   * chunk, whose earlier uses count; absent: it has none.
   */
  hasRoom(bytes: number, key?: string): boolean {
    this.#requireOpen('hasRoom');
    return this.#tiers.hasRoom(bytes + HEADER_BYTES, this.#absentWorth(key));
  }

  /** A search found a chunk's text, or a person opened it: worth more than what nobody asked for, stored or not. */
  found(key: string): void {
    this.#requireOpen('found');
    const { clock, index } = this.#disk;
    const [row, now] = [this.#disk.row(key), clock()];
    const name = this.#workload.found(key, now, row);
    if (row && name !== undefined)
      index.use(row, { class: name, lastUsedAt: now, order: index.nextOrder(), offset: 0 }, 0);
  }

  /** A prompt needed a chunk but computed its text: for eviction that is a use, as if acquire() had been called. */
  used(key: string, access: Access): void {
    this.#requireOpen('used');
    this.#serving.used(key, access);
  }

  /**
   * Stores a chunk; does nothing if the key exists. The caller keeps ownership: the store neither keeps nor disposes
   * the chunk. Evicts others to fit the budget. TypeError if the chunk does not match the key. CACHE_FULL (only
   * ahead of use), DISK_FULL (also if the budget cannot hold it), STORE_READ_ONLY.
   */
  put(
    key: string,
    chunk: Pick<ChunkKv, 'save'> & Partial<Pick<ChunkKv, 'bytes'>>,
    meta: PutMeta = {},
  ): Promise<void> {
    return this.#call('put', () => {
      if (!isKey(key)) throw new TypeError('ChunkStore.put: key must come from chunkKey().');
      const size = chunk.bytes === undefined ? undefined : chunk.bytes + HEADER_BYTES;
      return this.#writeOnce(key, size, meta, async (temp) => {
        const bytes = await chunk.save(temp);
        // Prefixes are not shared between machines.
        const onStored = (row: ChunkRow): void => {
          if (row.kind === 'chunk') this.shared?.offer(key, this.#disk.path(row));
        };
        return { bytes, onStored };
      });
    });
  }

  /**
   * Leases a chunk, or returns undefined if there is none to serve: never stored, evicted, of a newer format, or just
   * found corrupt (and quarantined). A chunk that shared.locate() found elsewhere is leased while it arrives. After the
   * last release the KV is read into memory in the background if the RAM budget allows. `access` is the input for the
   * eviction policy. CHUNK_MISMATCH if the opener is another model than the key's.
   */
  acquire(key: string, opener: ChunkOpener, access: Access = OTHER): Promise<Lease | undefined> {
    return this.#call('acquire', () => this.#serving.acquire(key, opener, access));
  }

  /**
   * Opens a file for one task that copies the data it needs; the file is neither kept open nor read into memory.
   * Returns the task's result; undefined if there is none to serve, or if the task found it CHUNK_CORRUPT or
   * CHUNK_MISMATCH: then it is quarantined.
   */
  borrow<T>(key: string, opener: ChunkOpener, task: (chunk: ChunkKv) => Promise<T>): Promise<T | undefined> {
    return this.#call('borrow', () => this.#serving.borrow(key, opener, task));
  }

  /**
   * Leases chunks for several upcoming uses, such as questions about the same documents, and first reads them into
   * memory, as far as the RAM budget allows: each file is read once, and every acquire() until the release finds the
   * chunk in memory. It does not count as a use. Keys may repeat. ABORTED, CHUNK_MISMATCH as acquire().
   */
  acquireMany(keys: Iterable<string>, opener: ChunkOpener, signal?: AbortSignal): Promise<LeaseSet> {
    return this.#call('acquireMany', () => this.#serving.acquireMany(keys, opener, signal));
  }

  /**
   * Reads a chunk into memory ahead of its use; it does not count as a use. By default it evicts nothing; with room
   * 'made', for the chunk expected next, it does. 'no-room' if it does not fit, 'missing' if there is none to serve.
   * CHUNK_MISMATCH as acquire().
   */
  prefetch(key: string, opener: ChunkOpener, room: PrefetchRoom = 'free'): Promise<PrefetchOutcome> {
    return this.#call('prefetch', () => this.#serving.prefetch(key, opener, room));
  }

  /** Quarantines the file of a lease that proved corrupt while its layers were read. Release the lease as usual. */
  reportCorrupt(key: string): Promise<void> {
    return this.#call('reportCorrupt', () =>
      this.#serving.discard(key, 'a layer failed its checksum while it was used'),
    );
  }

  /** Drops the KV that an opener read into memory; call before disposing a model. Its leases must be released. */
  forget(opener: object): Promise<void> {
    return this.#call('forget', () => this.#serving.forget(opener));
  }

  /** Resolves when no chunk is being read into memory, or moved between folders, in the background. */
  idle(): Promise<void> {
    return this.#call('idle', async () => {
      if (this.shared) await this.shared.idle();
      await this.#ramTier.idle();
      await this.#tiers.idle();
      await this.#changes.run(() => Promise.resolve());
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
    this.#requireOpen('list');
    return this.#disk.index.list(filter).map((row) => this.#entry(row));
  }

  /**
   * At most `limit` entries in key order, starting after `key`: a paginated listing that stays complete while entries
   * change.
   */
  after(key: string, limit: number): ListedEntry[] {
    this.#requireOpen('after');
    const rows = this.#disk.index.listed(key, limit);
    // The rows are modified in place, not copied: there are tens of thousands.
    return rows.map((row) =>
      Object.assign(row, {
        pinned: row.pinned === 1,
        away: this.#disk.isAway(row),
        inRam: this.#ramTier.isInRam(row.key),
      }),
    );
  }

  /** The entry of a key; undefined if it is not stored. The most recent uses may not be counted yet. */
  entry(key: string): ChunkEntry | undefined {
    this.#requireOpen('entry');
    const row = this.#disk.row(key);
    return row && this.#entry(row);
  }

  /**
   * At most `limit` stored chunks, of the same model and format and with any lead, that have most in common with a
   * text. The caller has to find the common parts; leasing one may fail.
   */
  similar(id: TextIdentity, limit = 3): Promise<SimilarChunk[]> {
    return this.#call('similar', () => findSimilar(this.#disk, this.#options.files, id, limit));
  }

  /** By model and number format. */
  totals(): KindTotals[] {
    this.#requireOpen('totals');
    return this.#disk.index.totals();
  }

  /** Of the disk that holds a folder, by default the store's own; undefined if the disk does not report it. */
  space(folder = OWN_FOLDER): Promise<DiskSpace | undefined> {
    this.#requireOpen('space');
    const { layout } = this.#disk.folders.get(folder) ?? this.#disk.folders.own;
    return this.#fs.space(layout.dir);
  }

  stats(): StoreStats {
    this.#requireOpen('stats');
    const { index, folders, newerFormat } = this.#disk;
    const { ram, disk, misses, prefetched, prefetchHits } = this.#serving.counts;
    const { entries, bytes, budgetBytes, prefixBytes } = this.#ramTier;
    const quarantined = folders.ready.map(({ quarantine }) => quarantine.totals);
    const newerBytes = [...newerFormat.values()].reduce((sum, size) => sum + size, 0);
    return {
      entries: folders.ready.reduce((sum, { id }) => sum + index.entriesIn(id), 0),
      bytes: folders.ready.reduce((sum, { id }) => sum + index.bytesIn(id), 0),
      diskBudgetBytes: this.#tiers.budgetBytes,
      folders: this.#tiers.stats(),
      prefixes: { ...index.held('prefix'), budgetBytes: this.#tiers.own.prefixBytes, ramBytes: prefixBytes },
      pinned: index.pinnedTotals(),
      leased: this.#serving.leases.size,
      ram: { entries, bytes, budgetBytes },
      hits: { ram, disk, shared: this.shared?.counts.hits ?? 0 },
      misses,
      prefetches: { made: prefetched, used: prefetchHits },
      ...(this.shared && { shared: { ...this.shared.counts } }),
      evictions: this.#tiers.evictions,
      moved: { ...this.#tiers.moved },
      quarantine: {
        files: quarantined.reduce((sum, { files }) => sum + files, 0),
        bytes: quarantined.reduce((sum, { bytes }) => sum + bytes, 0),
      },
      newerFormat: { files: newerFormat.size, bytes: newerBytes },
    };
  }

  /** Reads and verifies every file; quarantines corrupt ones. Does not block other calls. ABORTED by close(). */
  verify(onProgress: (progress: VerifyProgress) => void = () => undefined): Promise<VerifyReport> {
    const hooks = {
      holding: <T>(key: string, task: () => Promise<T>) => this.#serving.holding(key, task),
      settle: ({ key }: ChunkRow, fault: Fault) => this.#serving.settle(key, fault),
      isClosing: () => this.#closing !== undefined,
    };
    return this.#call('verify', () => verifyAll(this.#disk, this.#options.files, hooks, onProgress));
  }

  /** Removes entries; pinned and leased ones stay. */
  evict(request: EvictRequest): Promise<EvictReport> {
    return this.#call('evict', () => {
      requireEvictRequest(request);
      return this.#changes.run(() => this.#tiers.own.evict(request));
    });
  }

  /** Changes budgets and evicts the excess. */
  setBudget(budget: { diskBytes?: number; ramBytes?: number }): Promise<EvictReport> {
    return this.#call('setBudget', () => {
      const { diskBytes = this.#tiers.own.bytes, ramBytes = this.#ramTier.budgetBytes } = budget;
      requireBudget('ChunkStore.setBudget: diskBytes', diskBytes);
      requireBudget('ChunkStore.setBudget: ramBytes', ramBytes);
      this.#tiers.own.bytes = diskBytes;
      this.#ramTier.setBudget(ramBytes);
      return this.#changes.run(() => this.#tiers.shed());
    });
  }

  /** Adds a folder of chunk files, or changes its budget. Resolves when it is ready, or found not to be. */
  setFolder(folder: AddedFolder): Promise<void> {
    return this.#call('setFolder', async () => {
      requireBudget('ChunkStore.setFolder: budgetBytes', folder.budgetBytes);
      if (!this.#disk.folders.get(folder.id)) this.#disk.folders.add(folder);
      this.#tiers.set(folder);
      await this.#watch.start();
      await this.#changes.run(() => this.#tiers.shed());
    });
  }

  /**
   * Removes a folder: its chunks move to others as far as these have free room, the rest is deleted. Of a folder that is
   * not connected the files stay. It is not removed if pinned chunks in it cannot be moved, unless these may be deleted.
   */
  removeFolder(id: string, deletePinned = false): Promise<FolderRemoval> {
    return this.#call('removeFolder', async () => {
      const count = await this.#tiers.empty(id, deletePinned);
      if (count.kept.chunks > 0) return count;
      await this.#changes.run(async () => {
        this.#disk.index.forgetFolder(id);
        this.#tiers.delete(id);
        await this.#disk.folders.delete(id);
      });
      return count;
    });
  }

  /** How the controller ranks the folders for new chunks, cheapest of those that add no delay first. */
  rankFolders(rank: () => readonly RankedFolder[]): void {
    this.#requireOpen('rankFolders');
    this.#tiers.rankBy(rank);
  }

  /** Measures how fast an added folder's disk is read, with a file that it writes for this. Node's errors of the file system. */
  readSpeed(id: string): Promise<ReadTime[]> {
    return this.#call('readSpeed', async () => {
      const folder = this.#disk.folders.get(id);
      return folder?.isReady === true ? measureReads(folder.layout.tmp) : [];
    });
  }

  /** Looks which added folders are connected, as it does from time to time. */
  checkFolders(): Promise<void> {
    return this.#call('checkFolders', () => this.#watch.check());
  }

  /** Calls `listener` when a folder becomes ready, or ceases to be. */
  onFolders(listener: () => void): void {
    this.#requireOpen('onFolders');
    this.#onFolders = listener;
  }

  /** Changes the eviction policy; both policies have seen every use. */
  setPolicy(policy: PolicyName): void {
    this.#requireOpen('setPolicy');
    this.#policy = policy;
  }

  /** Waits for calls in progress, writes pending data, and releases the lock. */
  close(): Promise<void> {
    this.#closing ??= this.#shutDown();
    return this.#closing;
  }

  async #shutDown(): Promise<void> {
    if (this.shared) await this.shared.close();
    this.#tiers.close();
    await Promise.allSettled(this.#calls);
    await this.#ramTier.close();
    await this.#changes.run(() => Promise.resolve());
    await this.#watch.close();
    this.#disk.index.flush();
    this.#disk.index.keepWorkload(this.#workload.state());
    this.#disk.index.close();
    this.#lock.release();
  }

  #sharedChunks(tier: SharedTier, log: Logger): SharedChunks {
    const disk = this.#disk;
    return new SharedChunks({
      ...{ tier, log, files: this.#options.files },
      has: (key) => disk.row(key) !== undefined,
      keep: (key, bytes, write, label = '') =>
        this.#writeOnce(key, bytes, { label }, async (temp) => ({ bytes: await write(temp) })).catch(
          (error: unknown) => {
            throw this.#typed(error);
          },
        ),
    });
  }

  /** Two callers that store the same chunk concurrently write it once. */
  #writeOnce(key: string, bytes: number | undefined, meta: PutMeta, write: WriteFile): Promise<void> {
    const running = this.#puts.get(key);
    if (running) return running;
    const writing = this.#write(key, bytes, meta, write).finally(() => this.#puts.delete(key));
    this.#puts.set(key, writing);
    return writing;
  }

  /** `bytes`: of the file, if known. */
  async #write(key: string, bytes: number | undefined, meta: PutMeta, write: WriteFile): Promise<void> {
    if (this.#disk.row(key)) {
      if (meta.pinned) this.#disk.index.setPinned(key, true);
      return;
    }
    const worth = meta.ahead ? this.#absentWorth(key) : undefined;
    const folder = this.#tiers.choose(bytes, worth);
    try {
      await this.#writeTo(folder, key, meta, write);
    } catch (error) {
      if (folder.id === OWN_FOLDER) throw error;
      const problem = { folder: folder.layout.dir, error: messageOf(error) };
      this.#disk.log.warn('A chunk could not be written to an added folder.', problem);
      await this.#disk.isStillThere({ folder: folder.id });
      await this.#writeTo(this.#disk.folders.own, key, meta, write);
    }
  }

  async #writeTo(folder: ChunkFolder, key: string, meta: PutMeta, write: WriteFile): Promise<void> {
    const temp = folder.layout.tempFile(key);
    try {
      await requireSpace(this.#fs, folder.layout.dir);
      const { bytes, onStored } = await write(temp);
      const header = await this.#options.files.readChunkHeader(temp);
      await this.#changes.run(async () => {
        if (!folder.isReady)
          throw new KvasirError(
            'STORE_READ_ONLY',
            `The cache folder ${folder.layout.dir} is no longer connected.`,
          );
        const { clock, index } = this.#disk;
        const now = clock();
        const made = {
          now,
          order: index.nextOrder(),
          last: this.#workload.stored(key, now),
          folder: folder.id,
          meta,
        };
        const row = rowOf(key, header, bytes, made);
        await this.#tiers.makeRoom(row, meta.ahead ? this.#absentWorth(key) : undefined);
        await this.#disk.commit(temp, row);
        if (row.kind === 'chunk') enter(this.#disk, key, header.tokens);
        onStored?.(row);
      });
    } catch (error) {
      await this.#disk.removeTemp(temp);
      throw error;
    }
  }

  #absentWorth(key?: string): number {
    const last = key === undefined ? undefined : this.#workload.last(key);
    const policy = this.#policy === 'lru' ? LRU : this.#workload;
    return policy.absent(last, this.#disk.clock());
  }

  #entry(row: ChunkRow): ChunkEntry {
    return {
      ...row,
      pinned: row.pinned === 1,
      away: this.#disk.isAway(row),
      leases: this.#serving.leases.count(row.key),
      inRam: this.#ramTier.isInRam(row.key),
    };
  }

  #setPinned(method: string, key: string, pinned: boolean): boolean {
    this.#requireOpen(method);
    try {
      return this.#disk.listed(key) !== undefined && this.#disk.index.setPinned(key, pinned);
    } catch (error) {
      throw this.#typed(error);
    }
  }

  /** Runs a public method: rejects after close(), which waits for it, and converts environment errors. */
  async #call<T>(method: string, body: () => Promise<T>): Promise<T> {
    this.#requireOpen(method);
    const call = body();
    this.#calls.add(call);
    try {
      return await call;
    } catch (error) {
      throw this.#typed(error);
    } finally {
      this.#calls.delete(call);
    }
  }

  /** Index damage found while in use is repaired at the next start. */
  #typed(error: unknown): unknown {
    if (isCorruptDatabase(error)) markSuspect(this.#disk.layout.index);
    return toStoreError(error, this.#options.dir);
  }

  #requireOpen(method: string): void {
    if (this.#closing) throw new TypeError(`ChunkStore.${method}: the store is closed.`);
  }
}

/** Writes a chunk file; returns its size in bytes, and a callback for when it is stored. */
type WriteFile = (temp: string) => Promise<{ bytes: number; onStored?: (row: ChunkRow) => void }>;

const OTHER: Access = { class: 'other' };

/** Of the largest chunk's file beyond its KV: 8,192 token ids and the tables of layers (docs/formats/chunk-kv.md). */
const HEADER_BYTES = 40_960;

/** A week: knowledge of weekdays survives a weekend. */
const MEMORY_MS = 7 * 24 * 3600 * 1000;
/** Entries; a few MB. */
const REMEMBERED = 20_000;

/** Share of the budgets: enough for the beginnings of a few conversations; a library consists of chunks. */
const PREFIX_SHARE = 0.25;

function requireShare(name: string, share = 0): void {
  if (!(share >= 0 && share <= 1)) throw new TypeError(`${name} must be a share from 0 to 1.`);
}

function requireBudget(name: string, bytes: number): void {
  if (!(bytes >= 0)) throw new TypeError(`${name} must be a number of bytes, 0 or more.`);
}
