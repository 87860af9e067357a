import type { ChunkKv } from '../engine/engine.ts';
import type { EvictionPolicy } from './policy.ts';
import type {
  ChunkEntry,
  ChunkFiles,
  ChunkOpener,
  EvictReport,
  EvictRequest,
  Lease,
  ListFilter,
  PutMeta,
  RecoveryReport,
  StoreLog,
  StoreStats,
  VerifyProgress,
  VerifyReport,
} from './types.ts';

export type * from './types.ts';
export { chunkKey } from './hash.ts';

export interface StoreOptions {
  /** Created when missing. Everything the store owns is in here. */
  dir: string;
  /** Most bytes of chunk files. */
  diskBudgetBytes: number;
  /** Most bytes of KV kept in memory; 0 keeps none. */
  ramBudgetBytes: number;
  files: ChunkFiles;
  /** Default LRU. */
  policy?: EvictionPolicy;
  /** Milliseconds since 1970. Default Date.now. */
  clock?: () => number;
  log?: StoreLog;
}

/**
 * Chunk KV on disk and in memory: one file a chunk, an SQLite index, budgets, leases.
 *
 * One process owns a store at a time. Calls may overlap; those that change files or rows run one after another.
 * After close() every method but close() and Lease.release() throws a TypeError.
 */
export declare class ChunkStore {
  /**
   * Takes the store's lock, migrates the index, puts right what a crash left, and fits the budget.
   * STORE_IN_USE, STORE_VERSION, STORE_READ_ONLY, STORE_CORRUPT, DISK_FULL.
   */
  static open(options: StoreOptions): Promise<ChunkStore>;
  readonly recovery: RecoveryReport;
  /** Whether acquire() would look for a file; it reads the index only. */
  has(key: string): boolean;
  /**
   * Stores a chunk; does nothing when the key is there already. The chunk stays the caller's: the store neither keeps
   * nor disposes it. Evicts others to fit the budget. TypeError when the chunk is not the key's.
   * DISK_FULL (also when the budget cannot hold it), STORE_READ_ONLY.
   */
  put(key: string, chunk: ChunkKv, meta?: PutMeta): Promise<void>;
  /**
   * Leases a chunk, or gives undefined when there is none to serve: never stored, evicted, of a newer format, or found
   * corrupt just now (then it is in quarantine). After the last release the KV is read into memory in the background if
   * the RAM budget allows. CHUNK_MISMATCH when the opener is another model than the key's.
   */
  acquire(key: string, opener: ChunkOpener): Promise<Lease | undefined>;
  /** For a lease whose file turned out corrupt while its layers were read: quarantines it. Release the lease as usual. */
  reportCorrupt(key: string): Promise<void>;
  /** Drops the KV an opener brought into memory; call before disposing a model. Its leases must be released. */
  forget(opener: ChunkOpener): Promise<void>;
  /** Resolves when no chunk is being read into memory in the background. */
  idle(): Promise<void>;
  /** False when there is no such entry. */
  pin(key: string): boolean;
  unpin(key: string): boolean;
  /** Most recently used first. */
  list(filter?: ListFilter): ChunkEntry[];
  stats(): StoreStats;
  /** Reads every file and checks it; quarantines what is wrong. Other calls go on meanwhile. */
  verify(onProgress?: (progress: VerifyProgress) => void): Promise<VerifyReport>;
  /** Removes entries; pinned and leased ones stay. */
  evict(request: EvictRequest): Promise<EvictReport>;
  /** Changes budgets, and evicts what no longer fits. */
  setBudget(budget: { diskBytes?: number; ramBytes?: number }): Promise<EvictReport>;
  /** Waits for calls under way, writes what is pending, and gives up the lock. */
  close(): Promise<void>;
}
