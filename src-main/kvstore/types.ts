import type { ChunkHeader, ChunkKv, KvDtype } from '../engine/engine.ts';
import type { Logger } from '../platform/logger.ts';
import type { StoreFs } from './files.ts';
import type { QuarantineCap } from './quarantine.ts';
import type { SharedTier } from './shared-tier.ts';

/**
 * What an entry is, told by the domain of its key. Text chunks are reused anywhere in a prompt; blocks of prefixes only
 * behind what they were computed behind, and they have a share of the budgets of their own.
 */
export type EntryKind = 'chunk' | 'prefix';

/** What a chunk's KV depends on; two chunks with equal identities have interchangeable KV. */
export interface ChunkIdentity {
  /** Model fingerprint, as in ModelInfo. */
  fingerprint: string;
  /** Tokens that all chunks of the model are encoded behind (e.g. BOS), and those of this one's lead; their own KV is dropped. */
  prefix: Int32Array;
  lead?: Int32Array | undefined;
  dtype: KvDtype;
  tokens: Int32Array;
}

/** What a text that is looked for in stored chunks has to share with them. */
export type TextIdentity = Pick<ChunkIdentity, 'fingerprint' | 'dtype' | 'tokens'>;

/** What the KV of a prompt's beginning depends on: its tokens stand at the positions from 0 on. */
export interface PrefixIdentity {
  fingerprint: string;
  /** What its files name in place of a prefix, as in ModelInfo. */
  root: string;
  dtype: KvDtype;
  tokens: Int32Array;
}

/** Reads chunk files without a model. The Engine satisfies this. */
export interface ChunkFiles {
  /** Reads a header. CHUNK_CORRUPT, CHUNK_VERSION. */
  readChunkHeader(path: string): ChunkHeader;
  /** Reads the whole file and checks every checksum. CHUNK_CORRUPT, CHUNK_VERSION. */
  verifyChunk(path: string): Promise<void>;
}

/** Opens chunk files for use. A Model satisfies this. */
export interface ChunkOpener {
  /** Opens a file without reading its KV. CHUNK_CORRUPT, CHUNK_VERSION, CHUNK_MISMATCH. */
  openChunk(path: string): Promise<ChunkKv>;
  /**
   * A chunk that is used while it arrives, from the first bytes of its file, its header among them; absent: it uses none that do.
   * CHUNK_CORRUPT (also when it is not the key's), CHUNK_VERSION, CHUNK_MISMATCH.
   */
  receiveChunk?(key: string, beginning: Uint8Array, fileBytes: number): ChunkKv;
}

/** 'workload-aware' keeps what is used at the highest rate, learned by class of request. */
export type PolicyName = 'lru' | 'workload-aware';

export interface StoreOptions {
  /** Created when missing. Everything the store owns is in here. */
  dir: string;
  /** Most bytes of chunk files. Infinity for no limit. */
  diskBudgetBytes: number;
  /** Most bytes of KV kept in memory; 0 keeps none. */
  ramBudgetBytes: number;
  /** Most of either budget that blocks of prefixes may take; chunks have the rest for sure. Default 0.25. */
  prefixShare?: number;
  files: ChunkFiles;
  /** Default 'lru'. */
  policy?: PolicyName;
  /** Milliseconds since 1970. Default Date.now. */
  clock?: () => number;
  log?: Logger;
  /** Chunk files that other machines have. Absent: none. */
  shared?: SharedTier | undefined;
  /** Default: 32 files, 256 MiB. */
  quarantineCap?: QuarantineCap;
  /** For tests that inject faults. */
  fs?: StoreFs;
}

export interface PutMeta {
  /** Shown in lists: where the text came from, e.g. "handbook.md". Default ''. */
  label?: string;
  /** Default false. A pinned entry is never evicted. */
  pinned?: boolean;
}

/** A chunk in use. Until release() it is neither evicted nor disposed. */
export interface Lease {
  readonly key: string;
  readonly chunk: ChunkKv;
  /** Where the KV comes from: memory, the file (read layer by layer while it is used), or other machines (arriving meanwhile). */
  readonly tier: 'ram' | 'disk' | 'shared';
  /** Bytes of KV. */
  readonly bytes: number;
  /** Whether it was brought into memory ahead of this use, its first since. */
  readonly prefetched: boolean;
  /** Ends the use; the chunk must not be touched afterwards. Calling it again does nothing. */
  release(): void;
}

/** Where a prefetched chunk goes: into memory that is free, or in the place of what is worth least there. */
export type PrefetchRoom = 'free' | 'made';

/** Leases that are held and released together. */
export interface LeaseSet {
  /** By key; those that could not be served are not in it. */
  readonly leases: ReadonlyMap<string, Lease>;
  /** Calling it again does nothing. */
  release(): void;
}

export interface ChunkEntry {
  key: string;
  kind: EntryKind;
  fingerprint: string;
  prefixHash: string;
  dtype: KvDtype;
  layers: number;
  /** Number of tokens. */
  tokens: number;
  /** Bytes of the file: what counts against the disk budget. */
  bytes: number;
  formatVersion: number;
  label: string;
  pinned: boolean;
  /** How often acquire() found it, over all runs. */
  hits: number;
  /** Milliseconds since 1970. */
  createdAt: number;
  lastUsedAt: number;
  /** Of the request that used it last. */
  class: string;
  /** Leases held now. */
  leases: number;
  inRam: boolean;
}

/** What a list of very many shows of each. */
export type ListedEntry = Pick<
  ChunkEntry,
  'key' | 'fingerprint' | 'dtype' | 'tokens' | 'bytes' | 'label' | 'pinned' | 'hits' | 'lastUsedAt' | 'inRam'
>;

/** A stored chunk that has tokens in common with a text. */
export interface SimilarChunk {
  key: string;
  tokens: Int32Array;
  /** Fingerprints both have, of the at most 32 of each. */
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

/** What the store holds of one kind, of one model, in one number format. */
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
  /** Free at least this many bytes of files, least valuable first. */
  bytes?: number;
  all?: boolean;
  /** Entries last used before this time (milliseconds since 1970). */
  olderThan?: number;
  /** Just these. */
  keys?: readonly string[];
}

export interface EvictReport {
  entries: number;
  bytes: number;
  /** Entries the request covered that stayed because they are pinned or in use. */
  kept: number;
}

/** Since the store was opened. */
export interface SharedStats {
  /** Chunks that prompts used while they arrived. */
  hits: number;
  /** Chunks copied onto this disk ahead of their use. */
  fetched: number;
  /** Of all that arrived. */
  bytes: number;
  /** Values that failed a check: never used. */
  corrupt: number;
  /** Values that did not come, or not to the end. */
  failed: number;
}

export interface StoreStats {
  entries: number;
  bytes: number;
  diskBudgetBytes: number;
  /** Of these, blocks of prefixes, the most bytes they may take, and the bytes of them that are in memory. */
  prefixes: { entries: number; bytes: number; budgetBytes: number; ramBytes: number };
  pinned: { entries: number; bytes: number };
  /** Entries leased now. */
  leased: number;
  ram: { entries: number; bytes: number; budgetBytes: number };
  /** Since the store was opened. */
  hits: { ram: number; disk: number; shared: number };
  misses: number;
  /** Chunks brought into memory ahead of their use, and those of them that were then used. */
  prefetches: { made: number; used: number };
  /** Absent without a shared tier. */
  shared?: SharedStats | undefined;
  evictions: number;
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
  /** Quarantined: key and why. */
  corrupt: { key: string; reason: string }[];
  /** Rows whose file was gone; dropped. */
  missing: string[];
  /** Written by a newer chunk format; left alone, no longer served. */
  newerFormat: string[];
}

/** What opening the store found and put right. File names are relative to the store's folder. */
export interface RecoveryReport {
  /** Leftovers of interrupted writes. */
  tempFilesRemoved: number;
  /** Sound files without a row: a crash between rename and row, or a rebuilt index. */
  adopted: number;
  /** Second files of a key that has one already. */
  duplicatesRemoved: number;
  /** Rows whose file was gone. */
  rowsDropped: number;
  quarantined: { file: string; reason: string }[];
  /** Files of a newer chunk format, left alone. */
  newerFormat: string[];
  /** Files that are none of ours, left alone. */
  ignored: string[];
  /** Entries evicted because the budget is now smaller than what is there. */
  evicted: number;
  /** Where an unreadable index was put before the index was rebuilt from the files. */
  indexSetAside: string | undefined;
  /** Copy of the index made before a migration. */
  indexBackup: string | undefined;
  /** Milliseconds from open() to ready. */
  ms: number;
}
