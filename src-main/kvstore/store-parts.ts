import type { Logger } from '../platform/logger.ts';
import { SerialQueue } from '../platform/serial-queue.ts';
import { ChunkLeases } from './chunk-leases.ts';
import { ChunkWriter } from './chunk-writer.ts';
import type { ChunkDisk } from './disk.ts';
import { LRU, servedLast, type EvictionPolicy, type ServedTarget } from './eviction/policy.ts';
import { Workload, type WorkloadOptions } from './eviction/workload.ts';
import type { StoreFs } from './files.ts';
import { FolderTiers } from './folder-tiers.ts';
import { FolderWatch } from './folder-watch.ts';
import type { StoreLock } from './lock.ts';
import type { OpenedStore } from './open-store.ts';
import { RamTier } from './ram-tier.ts';
import { SharedChunks } from './shared-chunks.ts';
import type { SharedTier } from './shared-tier.ts';
import { StoreCalls } from './store-calls.ts';
import type { ChunkFiles, EntryKind, PolicyName, StoreOptions } from './types.ts';

/** A week: knowledge of weekdays survives a weekend. */
const MEMORY_MS = 7 * 24 * 3600 * 1000;
/** Entries; a few MB. */
const REMEMBERED = 20_000;

/** Share of the budgets: enough for the beginnings of a few conversations; a library consists of chunks. */
const PREFIX_SHARE = 0.25;

/** Constructs what a store consists of. */
export class StoreParts {
  readonly files: ChunkFiles;
  readonly disk: ChunkDisk;
  /** Its calls wait for the drive of an added folder for a limited time. */
  readonly fs: StoreFs;
  readonly lock: StoreLock;
  readonly calls: StoreCalls;
  readonly workload: Workload;
  readonly ramTier: RamTier;
  readonly shared: SharedChunks | undefined;
  readonly leases: ChunkLeases;
  readonly tiers: FolderTiers;
  readonly watch: FolderWatch;
  readonly writer: ChunkWriter;
  /** Serialises everything that changes files or rows. */
  readonly changes = new SerialQueue();
  policy: PolicyName;
  served: ServedTarget | undefined;

  constructor(options: StoreOptions, { disk, fs, lock }: OpenedStore, log: Logger) {
    const { prefixShare = PREFIX_SHARE, files, folderPollMs: pollMs } = options;
    const { makeWorkload = (about: WorkloadOptions) => new Workload(about) } = options;
    const { changes } = this;
    this.files = files;
    this.disk = disk;
    this.fs = fs;
    this.lock = lock;
    this.calls = new StoreCalls(disk.layout);
    this.policy = options.policy ?? 'lru';
    const workload = makeWorkload({
      memoryMs: MEMORY_MS,
      remembered: REMEMBERED,
      state: disk.index.workload(),
    });
    this.workload = workload;
    // A prompt's blocks are useful only with all preceding ones: always evict the tail of the oldest prompt first.
    const policy = (kind: EntryKind): EvictionPolicy =>
      this.policy === 'lru' || kind === 'prefix' ? LRU : workload;
    const ramTier = new RamTier({
      budgetBytes: options.ramBudgetBytes,
      prefixShare,
      policy,
      log,
      clock: disk.clock,
      onPullFailed: (key, error) => void this.leases.onPullFailed(key, error),
    });
    this.ramTier = ramTier;
    this.shared = options.shared && this.#sharedChunks(options.shared, log);
    const { shared } = this;
    this.leases = new ChunkLeases({
      ...{ disk, files, ramTier, workload, shared, changes },
      onFileUse: (key, folder) => this.tiers.used(key, folder),
    });
    this.tiers = new FolderTiers({
      ...{ disk, fs, prefixShare, changes },
      budgetBytes: options.diskBudgetBytes,
      added: options.folders ?? [],
      policy: (kind) => servedLast(policy(kind), this.served),
      isInUse: (key) => this.leases.inUse.count(key) > 0,
      onLeaving: (key) => ramTier.drop(key),
    });
    const { tiers } = this;
    this.watch = new FolderWatch({ disk, files, fs, pollMs, changes });
    this.writer = new ChunkWriter({ disk, fs, files, tiers, workload, shared, policy, changes });
  }

  #sharedChunks(tier: SharedTier, log: Logger): SharedChunks {
    return new SharedChunks({
      ...{ tier, log, files: this.files },
      has: (key) => this.disk.row(key) !== undefined,
      keep: (key, bytes, write, label = '') =>
        this.writer
          .store({ key, bytes, meta: { label }, write: async (temp) => ({ bytes: await write(temp) }) })
          .catch((error: unknown) => {
            throw this.calls.typed(error);
          }),
    });
  }
}
