import { z } from 'zod';
import { procedure } from './define.ts';
import { CacheStateSchema, IdSchema, KvDtypeSchema, NothingSchema, WindowSchema } from './common.ts';

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

const CacheStatsSchema = z.object({
  chunks: z.int(),
  diskBytes: z.number(),
  diskBudgetBytes: z.number(),
  diskFreeBytes: z.number(),
  ramBytes: z.number(),
  ramBudgetBytes: z.number(),
  /** null if the model is in main memory only. */
  device: DeviceCacheSchema.nullable(),
  pinnedChunks: z.int(),
  pinnedBytes: z.number(),
  /** Since the store was created. */
  ramHits: z.int(),
  diskHits: z.int(),
  misses: z.int(),
  /** Since the start: chunks prefetched into memory, and those of them that were used. */
  prefetched: z.int(),
  prefetchHits: z.int(),
  dtype: KvDtypeSchema,
  /** Size of the active model's chunks in each dtype. */
  bytesByDtype: z.object({ f16: z.number(), q8_0: z.number() }),
  /** Chunks of inactive models. */
  otherModelChunks: z.int(),
  otherModelBytes: z.number(),
});

const CacheEntrySchema = z.object({
  key: z.string(),
  /** The document it came from; null if no document has this text any longer. */
  documentId: IdSchema.nullable(),
  document: z.string(),
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

const VerifyResultSchema = z.object({
  checked: z.int(),
  corrupt: z.array(z.object({ key: z.string(), reason: z.string() })),
  missing: z.int(),
  newerFormat: z.int(),
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
  'cache.pin': procedure(
    z.object({ selection: SelectionSchema, pinned: z.boolean() }),
    z.object({ chunks: z.int() }),
  ),
  /** Deletes stored KV; it is recomputed when a question or the queue needs it. Entries in use stay. */
  'cache.evict': procedure(
    z.object({ selection: SelectionSchema }),
    z.object({ chunks: z.int(), bytes: z.number() }),
  ),
  /**
   * Reads every file and verifies every checksum; damaged files are set aside. Progress is sent as 'cache.progress'.
   */
  'cache.verify': procedure(NothingSchema, VerifyResultSchema),
};

export type CacheStats = z.infer<typeof CacheStatsSchema>;
export type CacheEntry = z.infer<typeof CacheEntrySchema>;
export type CacheDocument = z.infer<typeof CacheDocumentSchema>;
export type CacheSelection = z.infer<typeof SelectionSchema>;
export type VerifyResult = z.infer<typeof VerifyResultSchema>;
