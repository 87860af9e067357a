import { z } from 'zod';
import { FormatLossSchema } from './calibration.ts';
import { procedure } from './define.ts';
import { KvDtypeSchema } from '../kv-dtype.ts';
import { CacheStateSchema, IdSchema, NothingSchema, WindowSchema } from './common.ts';

/** Stored chunks held in the memory of the model's device. */
const DeviceCacheSchema = z.object({
  chunks: z.int(),
  bytes: z.number(),
  budgetBytes: z.number(),
  /** Whether the budget is automatic: it depends on the free memory. */
  automatic: z.boolean(),
  /** Total device memory. */
  totalBytes: z.number(),
});

/** A number format that chunks can be stored in with the model in use. */
const FormatSchema = z.object({
  dtype: KvDtypeSchema,
  /** Size of the model's chunks, computed or not. */
  bytes: z.number(),
  /** Absent for f16, and where the model's calibration has not measured it. */
  loss: FormatLossSchema.optional(),
  /** Whether it can be chosen: a packed format only once it was measured and passed. */
  offered: z.boolean(),
});

/** A disk budget for the free space, or why there is none. */
const BudgetProposalSchema = z.union([
  z.object({ bytes: z.number() }),
  z.object({ obstacle: z.enum(['small-disk', 'unknown-space']) }),
]);

const CacheStatsSchema = z.object({
  folder: z.string(),
  /** These two: of all folders that are ready. */
  chunks: z.int(),
  bytes: z.number(),
  /** These two: of the data folder; `cache.folders` has the others. */
  diskBytes: z.number(),
  diskBudgetBytes: z.number(),
  /** null if the disk does not report it. */
  diskFreeBytes: z.number().nullable(),
  /** null once somebody has set the disk budget. */
  proposal: BudgetProposalSchema.nullable(),
  ramBytes: z.number(),
  ramBudgetBytes: z.number(),
  /** null if the model is in main memory only. */
  device: DeviceCacheSchema.nullable(),
  pinnedChunks: z.int(),
  pinnedBytes: z.number(),
  /** Beginnings of prompts among them: KV of system prompts, and checkpoints of models that libllama runs. */
  prefixes: z.object({ entries: z.int(), bytes: z.number(), budgetBytes: z.number() }),
  /** Since the store was created. */
  ramHits: z.int(),
  diskHits: z.int(),
  misses: z.int(),
  /** Since the start: chunks prefetched into memory, and those of them that were used. */
  prefetched: z.int(),
  prefetchHits: z.int(),
  dtype: KvDtypeSchema,
  /** Every number format, from exact to smallest. */
  formats: z.array(FormatSchema),
  /** Chunks of inactive models. */
  otherModelChunks: z.int(),
  otherModelBytes: z.number(),
  /** Since the start. */
  evictions: z.int(),
  /** Damaged files that were set aside. */
  quarantine: z.object({ files: z.int(), bytes: z.number() }),
});

const CacheEntrySchema = z.object({
  key: z.string(),
  kind: z.enum(['chunk', 'prefix']),
  /** The document it came from; null if no document has this text any longer. */
  documentId: IdSchema.nullable(),
  document: z.string(),
  /** Whether its folder is not connected. */
  away: z.boolean(),
  ordinal: z.int().nullable(),
  tokens: z.int(),
  bytes: z.number(),
  dtype: KvDtypeSchema,
  state: CacheStateSchema,
  hits: z.int(),
  lastUsedMs: z.number().nullable(),
  pinned: z.boolean(),
  /** Whether it belongs to the active model. */
  current: z.boolean(),
});

const CacheDocumentSchema = z.object({
  documentId: IdSchema.nullable(),
  document: z.string(),
  libraryId: IdSchema.nullable(),
  chunks: z.int(),
  bytes: z.number(),
  ramBytes: z.number(),
  hits: z.int(),
  lastUsedMs: z.number().nullable(),
  pinnedChunks: z.int(),
});

/** The entries that an action applies to. */
const SelectionSchema = z.union([
  z.object({ keys: z.array(z.string()).min(1).max(50_000) }),
  z.object({ documentIds: z.array(IdSchema).min(1).max(10_000) }),
  z.object({ all: z.literal(true) }),
  z.object({ otherModels: z.literal(true) }),
]);

/**
 * 'not-connected': its marker file is missing, as when its drive is unplugged; 'not-responding': its drive hangs; 'in-use':
 * by another Kvasir; 'failed': it cannot be written or read.
 */
const FolderStateSchema = z.enum(['ready', 'not-connected', 'not-responding', 'in-use', 'failed']);

/** A folder that stored KV is kept in. */
const CacheFolderSchema = z.object({
  /** '' for the one in the data folder. */
  id: z.string(),
  path: z.string(),
  state: FolderStateSchema,
  /** Why it failed; else ''. */
  problem: z.string(),
  /** Also while it is not connected: then they are computed when a question needs them. */
  chunks: z.int(),
  bytes: z.number(),
  budgetBytes: z.number(),
  pricePerGb: z.number().nullable(),
  /** null if the disk does not report it, or is not connected. */
  freeBytes: z.number().nullable(),
  /** Reading large files; null before it was measured. */
  bytesPerSecond: z.number().nullable(),
  /** Milliseconds to read the chunks of a usual prompt; null before that was measured. */
  loadMs: z.number().nullable(),
  /** Whether a usual prompt waits for them; null while the folder is not ready. */
  addsDelay: z.boolean().nullable(),
});

/**
 * Why new chunks go to a folder. Of those that add no delay: 'only': it is the only one; 'cheapest'; 'unpriced': the
 * first, since no price is known. 'fastest': all add delay. 'unmeasured': not known yet.
 */
const PlacementReasonSchema = z.enum(['cheapest', 'only', 'unpriced', 'fastest', 'unmeasured']);

const CacheFoldersSchema = z.object({
  folders: z.array(CacheFolderSchema),
  /** The folder for new chunks as long as it has room. `computeMs`: a usual prompt at the ratio in use; null: unknown. */
  newChunks: z.object({
    folder: z.string(),
    reason: PlacementReasonSchema,
    computeMs: z.number().nullable(),
  }),
  /** Since the start: chunks moved between folders, and the bytes written for that. */
  moved: z.object({ demoted: z.int(), promoted: z.int(), bytes: z.number() }),
});

const FolderLimitsSchema = z.object({
  budgetBytes: z.int().min(0),
  /** In any currency, to compare it with the other folders; absent: unknown. */
  pricePerGb: z.number().min(0).optional(),
});

const Bytes = z.object({ chunks: z.int(), bytes: z.number() });

const FolderRemovalSchema = z.object({
  moved: z.int(),
  deleted: z.int(),
  /** Pinned chunks that cannot be moved. If there are any, the folder was not removed. */
  kept: Bytes,
});

const ImportReportSchema = z.object({
  added: z.int(),
  /** Bytes of the added chunks. */
  bytes: z.number(),
  /** Already stored. */
  there: z.int(),
  /** Not stored: damaged, not matching its key, or of a newer format. */
  refused: z.array(z.object({ key: z.string(), reason: z.string() })),
});

const VerifyResultSchema = z.object({
  checked: z.int(),
  ok: z.int(),
  bytes: z.number(),
  /** Set aside. */
  corrupt: z.array(z.object({ key: z.string(), reason: z.string() })),
  /** Keys whose file is gone, and keys of files in a newer format, which were left alone. */
  missing: z.array(z.string()),
  newerFormat: z.array(z.string()),
  ms: z.number(),
});

export const cacheContract = {
  'cache.stats': procedure(NothingSchema, CacheStatsSchema),
  'cache.entries': procedure(
    WindowSchema.extend({
      search: z.string().max(500).default(''),
      documentId: IdSchema.optional(),
      sort: z.enum(['document', 'bytes', 'tokens', 'hits', 'lastUsed']).default('document'),
      descending: z.boolean().default(false),
    }),
    z.object({ total: z.int(), items: z.array(CacheEntrySchema) }),
  ),
  'cache.documents': procedure(
    WindowSchema.extend({
      search: z.string().max(500).default(''),
      sort: z.enum(['document', 'bytes', 'chunks', 'hits', 'lastUsed']).default('bytes'),
      descending: z.boolean().default(true),
    }),
    z.object({ total: z.int(), items: z.array(CacheDocumentSchema) }),
  ),
  'cache.folders': procedure(NothingSchema, CacheFoldersSchema),
  /**
   * Keeps stored KV in a folder as well, in a folder `kvasir-cache` within it. BAD_ARGUMENT if it does not exist, is in
   * the data folder, or was added before; STORE_READ_ONLY, DISK_FULL.
   */
  'cache.addFolder': procedure(
    FolderLimitsSchema.extend({ path: z.string().min(1).max(4096) }),
    CacheFoldersSchema,
  ),
  /** `pricePerGb` null: unknown. NOT_FOUND. */
  'cache.changeFolder': procedure(
    z.object({
      id: z.string(),
      budgetBytes: z.int().min(0).optional(),
      pricePerGb: z.number().min(0).nullable().optional(),
    }),
    CacheFoldersSchema,
  ),
  /**
   * Removes an added folder: its chunks move to the others as far as these have free room, and the rest is deleted; the
   * files of one that is not connected stay. If pinned chunks in it cannot be moved, it is removed only with
   * `deletePinned`: without it nothing is moved. NOT_FOUND.
   */
  'cache.removeFolder': procedure(
    z.object({ id: z.string(), deletePinned: z.boolean().default(false) }),
    FolderRemovalSchema,
  ),
  'cache.pin': procedure(
    z.object({ selection: SelectionSchema, pinned: z.boolean() }),
    z.object({ chunks: z.int() }),
  ),
  /**
   * Deletes stored KV, or the least recently used until this many bytes are free; it is recomputed when a question or the
   * queue needs it. `kept`: selected entries that stay because they are pinned or in use.
   */
  'cache.evict': procedure(
    z.object({ selection: z.union([SelectionSchema, z.object({ freeBytes: z.number().min(0) })]) }),
    Bytes.extend({ kept: z.int() }),
  ),
  /**
   * Reads every file and verifies every checksum; damaged files are set aside. Progress is sent as 'cache.progress'.
   */
  'cache.verify': procedure(NothingSchema, VerifyResultSchema),
  /**
   * Writes the stored chunks of a folder's library into one file, for another machine with the same model.
   * LIBRARY_NOT_FOUND, LIBRARY_EMPTY, DISK_FULL, STORE_READ_ONLY; ABORTED by cache.stopArchive.
   */
  'cache.export': procedure(z.object({ library: z.string().min(1), file: z.string().min(1) }), Bytes),
  /** Stores the chunks of such a file; each is verified, and nothing is evicted for them. CACHE_FULL, BACKUP_INVALID, ABORTED. */
  'cache.import': procedure(z.object({ file: z.string().min(1) }), ImportReportSchema),
  'cache.stopArchive': procedure(NothingSchema, NothingSchema),
};

export type BudgetProposal = z.infer<typeof BudgetProposalSchema>;
export type CacheStats = z.infer<typeof CacheStatsSchema>;
export type CacheFolder = z.infer<typeof CacheFolderSchema>;
export type FolderState = z.infer<typeof FolderStateSchema>;
export type CacheFolders = z.infer<typeof CacheFoldersSchema>;
export type FolderRemoval = z.infer<typeof FolderRemovalSchema>;
export type PlacementReason = z.infer<typeof PlacementReasonSchema>;
export type CacheEntry = z.infer<typeof CacheEntrySchema>;
export type CacheDocument = z.infer<typeof CacheDocumentSchema>;
export type CacheSelection = z.infer<typeof SelectionSchema>;
export type ImportReport = z.infer<typeof ImportReportSchema>;
export type VerifyResult = z.infer<typeof VerifyResultSchema>;
