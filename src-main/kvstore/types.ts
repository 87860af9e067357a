import type { FolderState } from '../../src-shared/contract/cache.ts';
import type { ChunkHeader, ChunkKv, KvDtype } from '../engine/engine.ts';
import type { Logger } from '../platform/logger.ts';
import type { Workload, WorkloadOptions } from './eviction/workload.ts';
import type { StoreFs } from './files.ts';
import type { QuarantineCap } from './quarantine.ts';
import type { SharedTier } from './shared-tier.ts';

/**
 * An entry's kind, determined by the domain of its key. Text chunks are reused anywhere in a prompt; prefix blocks only
 * after the same preceding tokens, and they have a separate share of the budgets.
 */
export type EntryKind = 'chunk' | 'prefix';

/** Everything that a chunk's KV depends on; two chunks with equal identities have interchangeable KV. */
export interface ChunkIdentity {
  /** Model fingerprint, as in ModelInfo. */
  fingerprint: string;
  /**
   * Tokens that precede all chunks of the model when encoding (e.g. BOS), followed by this chunk's lead; their KV is
   * dropped.
   */
  prefix: Int32Array;
  lead?: Int32Array | undefined;
  dtype: KvDtype;
  tokens: Int32Array;
}

/** The properties that similar chunks must share with a text. */
export type TextIdentity = Pick<ChunkIdentity, 'fingerprint' | 'dtype' | 'tokens'>;

/** Everything that the KV of a prompt's beginning depends on: its tokens are at positions 0 and up. */
export interface PrefixIdentity {
  fingerprint: string;
  /** The value its files have in place of a prefix hash, as in ModelInfo. */
  root: string;
  dtype: KvDtype;
  tokens: Int32Array;
}

/** Reads chunk files without a model. The Engine satisfies this. */
export interface ChunkFiles {
  /** Reads a header. CHUNK_CORRUPT, CHUNK_VERSION. */
  readChunkHeader(path: string): Promise<ChunkHeader>;
  /** Reads the whole file and verifies every checksum. CHUNK_CORRUPT, CHUNK_VERSION. */
  verifyChunk(path: string): Promise<void>;
}

/** Opens chunk files for use. A Model satisfies this. */
export interface ChunkOpener {
  /**
   * Opens a file without reading its KV. `patienceMs`: how long its drive may take for a call, then and whenever it is
   * read; absent: no limit. CHUNK_CORRUPT, CHUNK_VERSION, CHUNK_MISMATCH, CHUNK_UNREADABLE.
   */
  openChunk(path: string, patienceMs?: number): Promise<ChunkKv>;
  /**
   * Opens a chunk that is used while it arrives, given the first bytes of its file including the header; absent: not
   * supported. CHUNK_CORRUPT (also if it does not match the key), CHUNK_VERSION, CHUNK_MISMATCH.
   */
  receiveChunk?(key: string, beginning: Uint8Array, fileBytes: number): ChunkKv;
}

/** 'workload-aware' keeps the entries with the highest rate of use, learned by class of request. */
export type PolicyName = 'lru' | 'workload-aware';

/** A folder of chunk files beside the store's own, such as one on a big slow disk. */
export interface AddedFolder {
  /** Of its marker file. */
  id: string;
  path: string;
  /** Size limit of its chunk files in bytes. */
  budgetBytes: number;
}

/** What a folder held when it ceased to be used. */
export interface DetachedFolder {
  chunks: number;
  /** Of these, which stay listed. */
  pinned: number;
}

/** A folder as the controller ranks it for new chunks. */
export interface RankedFolder {
  id: string;
  /** Whether a prompt waits for chunks that are read from it. */
  addsDelay: boolean;
}

export interface FolderStats {
  /** '' for the store's own. */
  id: string;
  state: FolderState;
  /** Why it failed; else ''. */
  problem: string;
  /** Also while it is not connected. */
  entries: number;
  bytes: number;
  budgetBytes: number;
}

export interface StoreOptions {
  /** Created if missing. Contains everything the store owns. */
  dir: string;
  /** Further folders of chunk files. Default none. */
  folders?: readonly AddedFolder[] | undefined;
  /** How often added folders are checked, in milliseconds. Default 10 s. */
  folderPollMs?: number | undefined;
  /** How long the drive of an added folder may take to respond, in milliseconds. Default 12 s. */
  folderPatienceMs?: number | undefined;
  /** Size limit of chunk files in bytes. Infinity for no limit. */
  diskBudgetBytes: number;
  /** Size limit of KV in memory in bytes; 0 keeps none. */
  ramBudgetBytes: number;
  /** Maximum share of either budget for prefix blocks; the rest is reserved for chunks. Default 0.25. */
  prefixShare?: number;
  files: ChunkFiles;
  /** Default 'lru'. */
  policy?: PolicyName;
  /** Milliseconds since 1970. Default Date.now. */
  clock?: () => number;
  log?: Logger;
  /** Chunk files of other machines. Absent: none. */
  shared?: SharedTier | undefined;
  /** Default: 32 files, 256 MiB. */
  quarantineCap?: QuarantineCap;
  /** For tests that inject faults. */
  fs?: StoreFs;
  /** For benches that leave out terms of a chunk's worth. */
  makeWorkload?: ((options: WorkloadOptions) => Workload) | undefined;
}

export interface PutMeta {
  /** Shown in lists: where the text came from, e.g. "handbook.md". Default ''. */
  label?: string;
  /** Default false. A pinned entry is never evicted. */
  pinned?: boolean;
  /** Stored before anybody asks for it: it evicts only entries of a lower worth. Default false. */
  ahead?: boolean | undefined;
}

/** A chunk in use. Until release() it is neither evicted nor disposed. */
export interface Lease {
  readonly key: string;
  readonly chunk: ChunkKv;
  /** Source of the KV: memory, the file (read layer by layer during use), or other machines (arriving during use). */
  readonly tier: 'ram' | 'disk' | 'shared';
  /** Id of the folder with its file. Absent: the store's own. */
  readonly folder?: string;
  readonly bytes: number;
  /** Whether it was prefetched and this is its first use since. */
  readonly prefetched: boolean;
  /** Ends the use; the chunk must not be touched afterwards. Further calls do nothing. */
  release(): void;
}

/** Memory for a prefetched chunk: only free memory, or also that of the least valuable chunks. */
export type PrefetchRoom = 'free' | 'made';

/** Leases that are held and released together. */
export interface LeaseSet {
  /** By key, without those that could not be served. */
  readonly leases: ReadonlyMap<string, Lease>;
  /** Further calls do nothing. */
  release(): void;
}

export interface ChunkEntry {
  key: string;
  /** Id of the added folder with its file; '': the store's own. */
  folder: string;
  /** Its folder is not connected: it is listed, but not served. */
  away: boolean;
  kind: EntryKind;
  fingerprint: string;
  prefixHash: string;
  dtype: KvDtype;
  layers: number;
  tokens: number;
  /** Bytes of the file, which count towards the disk budget. */
  bytes: number;
  formatVersion: number;
  label: string;
  pinned: boolean;
  /** Number of times acquire() found it, over all runs. */
  hits: number;
  /** Milliseconds since 1970. */
  createdAt: number;
  lastUsedAt: number;
  /** Class of the last request that used it. */
  class: string;
  leases: number;
  inRam: boolean;
}

/** The fields shown in very long lists. */
export type ListedEntry = Omit<
  ChunkEntry,
  'prefixHash' | 'layers' | 'formatVersion' | 'createdAt' | 'class' | 'leases'
>;

/** A stored chunk that has tokens in common with a text. */
export interface SimilarChunk {
  key: string;
  tokens: Int32Array;
  /** Number of common fingerprints, of at most 32 each. */
  shared: number;
}

export interface ListFilter {
  kind?: EntryKind;
  fingerprint?: string;
  pinned?: boolean;
  /** Default: all. */
  limit?: number;
  offset?: number;
}

/** Totals of one kind, model and number format. */
export interface KindTotals {
  kind: EntryKind;
  fingerprint: string;
  dtype: KvDtype;
  entries: number;
  tokens: number;
  /** Of the files. */
  bytes: number;
}

export interface EvictRequest {
  /** Frees at least this many bytes of files, least valuable first. */
  bytes?: number;
  all?: boolean;
  /** Only these. */
  keys?: readonly string[];
}

export interface EvictReport {
  entries: number;
  bytes: number;
  /** Covered entries that stayed because they are pinned or in use. */
  kept: number;
}

/** Since the store was opened. */
export interface SharedStats {
  /** Chunks used by prompts while they arrived. */
  hits: number;
  /** Chunks copied to this disk ahead of their use. */
  fetched: number;
  /** Bytes of everything that arrived. */
  bytes: number;
  /** Values that failed verification and were never used. */
  corrupt: number;
  /** Values that did not arrive, or only in part. */
  failed: number;
}

export interface StoreStats {
  /** These three: of all folders that are ready. */
  entries: number;
  bytes: number;
  diskBudgetBytes: number;
  /** The store's own first. */
  folders: FolderStats[];
  /** Prefix blocks: entries, bytes, their size limit, and their bytes in memory. */
  prefixes: { entries: number; bytes: number; budgetBytes: number; ramBytes: number };
  pinned: { entries: number; bytes: number };
  /** Entries leased now. */
  leased: number;
  ram: { entries: number; bytes: number; budgetBytes: number };
  /** Since the store was opened. */
  hits: { ram: number; disk: number; shared: number };
  misses: number;
  /** Chunks prefetched, and those of them that were used. */
  prefetches: { made: number; used: number };
  /** Absent without a shared tier. */
  shared?: SharedStats | undefined;
  evictions: number;
  /** Chunks moved between folders, and their bytes, which were written again. */
  moved: { demoted: number; promoted: number; bytes: number };
  quarantine: { files: number; bytes: number };
  /** Files of a newer chunk format, left alone; they do not count against the budget. */
  newerFormat: { files: number; bytes: number };
}

export interface VerifyProgress {
  done: number;
  total: number;
  /** Bytes checked so far. */
  bytes: number;
}

export interface VerifyReport {
  checked: number;
  ok: number;
  bytes: number;
  /** Quarantined: key and reason. */
  corrupt: { key: string; reason: string }[];
  /** Rows whose file was missing; dropped. */
  missing: string[];
  /** Written in a newer chunk format; left alone, no longer served. */
  newerFormat: string[];
}

/** Findings and repairs of opening the store. File names are relative to the store's folder. */
export interface RecoveryReport {
  /** Remains of interrupted writes. */
  tempFilesRemoved: number;
  /** Intact files without a row: a crash between rename and row, or a rebuilt index. */
  adopted: number;
  /** Second files of the same key. */
  duplicatesRemoved: number;
  /** Rows whose file was missing. */
  rowsDropped: number;
  quarantined: { file: string; reason: string }[];
  /** Files of a newer chunk format, left alone. */
  newerFormat: string[];
  /** Files not created by Kvasir, left alone. */
  ignored: string[];
  /** Added folders with chunks that are no longer named; their files were left alone. */
  unlisted: DetachedFolder[];
  /** Entries evicted because the budget is now smaller than the contents. */
  evicted: number;
  /** Path of an unreadable index, set aside before the index was rebuilt from the files. */
  indexSetAside: string | undefined;
  /** Copy of the index made before a migration. */
  indexBackup: string | undefined;
  /** Milliseconds from open() to ready. */
  ms: number;
}
