import { z } from 'zod';
import { KvDtypeSchema } from '../kv-dtype.ts';
import { PrecomputeReportSchema, SyncReportSchema } from '../library.ts';
import { WebAddressSchema } from '../web-address.ts';
import { procedure } from './define.ts';
import {
  CacheStateSchema,
  FailureSchema,
  IdSchema,
  NothingSchema,
  RangeSchema,
  WindowSchema,
} from './common.ts';

/** A source of a library's documents. */
const SourceRootSchema = z.object({
  id: IdSchema,
  /** managed: copies of uploaded files, inside the data folder. */
  kind: z.enum(['folder', 'file', 'managed']),
  path: z.string(),
  /** Whether changes on disk are picked up automatically. */
  watched: z.boolean(),
  /** Why the folder is currently unavailable (moved, unplugged); its documents are kept. */
  failure: FailureSchema.nullable(),
  /** Files in it that are not documents, at the last scan; 'libraries.skipped' lists them. */
  skipped: z.int(),
});

const SkippedFileSchema = z.object({
  /** Relative to the root, with forward slashes. */
  path: z.string(),
  /**
   * kind: unsupported file type; unreadable: the system cannot read it, e.g. a broken link; online: only a placeholder of it is on the
   * disk.
   */
  reason: z.enum(['kind', 'unreadable', 'online']),
});

const LibraryInfoSchema = z.object({
  id: IdSchema,
  name: z.string(),
  /** The sample library that comes with Kvasir. */
  sample: z.boolean(),
  roots: z.array(SourceRootSchema),
  documents: z.int(),
  /** Documents that failed, and documents still in the queue. */
  failed: z.int(),
  pending: z.int(),
  /** Chunks for the active model, and those whose KV is stored. */
  chunks: z.int(),
  cachedChunks: z.int(),
  tokens: z.int(),
  cacheBytes: z.number(),
});

const DocumentPhaseSchema = z.enum([
  'waiting',
  'reading', // parsed in a separate process
  'recognising', // the text of pages that are pictures
  'chunking',
  'indexing', // full text and, with an embedding model, vectors
  'precomputing', // the KV of its chunks
  'ready',
  'failed',
]);

const DocumentInfoSchema = z.object({
  id: IdSchema,
  libraryId: IdSchema,
  /** Relative to its root, with forward slashes. */
  path: z.string(),
  title: z.string(),
  /** File name extension without the dot, lower case. */
  format: z.string(),
  bytes: z.number(),
  modifiedMs: z.number(),
  /** The web address that it was fetched from, and when; null for files. */
  address: z.string().nullable(),
  fetchedMs: z.number().nullable(),
  phase: DocumentPhaseSchema,
  failure: FailureSchema.nullable(),
  /** Warnings for the user although the document could be read, e.g. pages without text. */
  warnings: z.array(z.string()),
  pages: z.int().nullable(),
  tokens: z.int(),
  chunks: z.int(),
  cachedChunks: z.int(),
  cacheBytes: z.number(),
});

const DocumentTextSchema = z.object({
  text: z.string(),
  /** UTF-16 length of the whole text. */
  length: z.int(),
  offset: z.int(),
  /** Number of the line that `offset` is in, from 1; null where the file has no lines that people count. */
  line: z.int().nullable(),
  /** Pages (PDF), slides, sheets or chapters; ranges in the whole text. */
  pages: z.array(RangeSchema.extend({ label: z.string() })),
});

const SheetRowSchema = z.object({
  /** Its place in the file, from 1. */
  number: z.int(),
  cells: z.array(z.string()),
  marked: z.boolean(),
});

/** A document as a page, which the window shows in a frame (its host serves it: hosts/window/document-files.ts). */
const DocumentPageSchema = z.object({
  /** Labels of a book's chapters or a mailbox's messages; empty: the page is the whole document. */
  parts: z.array(z.string()),
  /** Which of them the page shows, from 0. */
  part: z.int(),
  /** Whether the passage was found in it. */
  isMarked: z.boolean(),
  /** Whether its end is left out, because it is too long. */
  isCut: z.boolean(),
});

const ChunkInfoSchema = z.object({
  id: IdSchema,
  documentId: IdSchema,
  /** Key of its KV in the store. */
  key: z.string(),
  ordinal: z.int(),
  /** UTF-16 range in the document's text. */
  start: z.int(),
  end: z.int(),
  /** Label of the page it starts on, if the format has pages. */
  page: z.string().nullable(),
  title: z.string(),
  text: z.string(),
  tokens: z.int(),
  cache: CacheStateSchema,
  bytes: z.number(),
  hits: z.int(),
  lastUsedMs: z.number().nullable(),
  pinned: z.boolean(),
});

/** The durable queue of documents. */
export const QueueStatusSchema = z.object({
  paused: z.boolean(),
  /** Documents in each phase other than ready. */
  waiting: z.int(),
  active: z.int(),
  failed: z.int(),
  done: z.int(),
  total: z.int(),
  current: z
    .object({
      documentId: IdSchema,
      libraryId: IdSchema,
      path: z.string(),
      phase: DocumentPhaseSchema,
      /** Pages, chunks or tokens, by phase. */
      done: z.number(),
      total: z.number(),
    })
    .nullable(),
  /** Tokens whose KV has been computed, and total, in this run. */
  tokensDone: z.int(),
  tokensTotal: z.int(),
  /**
   * Tokens of ready documents whose KV is not stored, e.g. because the cache is full; counted once the queue is empty.
   */
  tokensLeftOut: z.int(),
  tokensPerSecond: z.number(),
  /** null until it can be estimated. */
  secondsLeft: z.number().nullable(),
  /** Why the queue is blocked although it is not paused, e.g. a full disk. */
  blocked: FailureSchema.nullable(),
});

/** What is left to compute, before computing it. */
export const PrecomputePlanSchema = z.object({
  /** Tokens without stored KV; those of documents that were not chunked yet are estimated. */
  tokens: z.int(),
  /** The number format in use, and the bytes of their KV in each format. */
  dtype: KvDtypeSchema,
  bytes: z.record(KvDtypeSchema, z.number()),
  /** Seconds on this machine; null until the model was measured. */
  seconds: z.number().nullable(),
  /** The share of their KV that the disk budget has room for, 0 to 1. */
  budgetShare: z.number(),
  /** A larger budget that the disk has room for, and its share, while nobody has set one. */
  proposal: z.object({ bytes: z.number(), share: z.number() }).nullable(),
});

const ById = z.object({ id: IdSchema });
const Ids = z.object({ ids: z.array(IdSchema).min(1).max(10_000) });

/** What is to be shown of a document. */
export const DocumentPartSchema = z.object({
  id: IdSchema,
  /** Absent: the one with the passage, else the first. */
  part: z.int().min(0).optional(),
  start: z.int().min(0).optional(),
  end: z.int().min(0).optional(),
});

/** Lines of a passage on a page whose text was recognised. */
const PageLinesSchema = z.object({
  /** From 0. */
  page: z.int(),
  /** Left, top, right and bottom, in shares of the page. */
  lines: z.array(z.tuple([z.number(), z.number(), z.number(), z.number()])),
});

export const librariesContract = {
  'libraries.list': procedure(NothingSchema, z.array(LibraryInfoSchema)),
  'libraries.create': procedure(z.object({ name: z.string().trim().min(1).max(200) }), LibraryInfoSchema),
  'libraries.rename': procedure(
    z.object({ id: IdSchema, name: z.string().trim().min(1).max(200) }),
    LibraryInfoSchema,
  ),
  /** Deletes the library, its chunks and caches. Files in the user's folders are never touched. */
  'libraries.delete': procedure(ById, NothingSchema),
  /** Adds local files and folders by path, and queues their documents. LIBRARY_NOT_FOUND. */
  'libraries.addPaths': procedure(
    z.object({
      id: IdSchema,
      paths: z.array(z.string().min(1)).min(1).max(10_000),
      watch: z.boolean().default(true),
    }),
    LibraryInfoSchema,
  ),
  /**
   * Fetches a page from the internet, once, and queues it as a document; an address that the library has is fetched again.
   * Nothing else ever fetches one. NOT_FOUND, PAGE_PRIVATE, PAGE_UNREACHABLE, PAGE_UNSUPPORTED, DOCUMENT_TOO_LARGE,
   * DISK_FULL, STORE_READ_ONLY, ABORTED.
   */
  'libraries.addAddress': procedure(z.object({ id: IdSchema, url: WebAddressSchema }), DocumentInfoSchema),
  'libraries.removeRoot': procedure(z.object({ id: IdSchema, rootId: IdSchema }), LibraryInfoSchema),
  'libraries.setWatched': procedure(
    z.object({ id: IdSchema, rootId: IdSchema, watched: z.boolean() }),
    LibraryInfoSchema,
  ),
  'libraries.skipped': procedure(
    z.object({ id: IdSchema, rootId: IdSchema }),
    z.object({ total: z.int(), files: z.array(SkippedFileSchema) }),
  ),
  /** Scans for new, changed and deleted files now. */
  'libraries.rescan': procedure(ById, NothingSchema),

  /**
   * Reads a folder's library now, whether the queue is paused or not, for the model in use: creates it if missing, scans,
   * reads, chunks, and with `precompute` computes the KV. Progress is sent as 'library.progress'. Documents that cannot
   * be used are part of the report. LIBRARY_NOT_FOUND, LIBRARY_EMPTY, DISK_FULL, STORE_READ_ONLY, OUT_OF_MEMORY; ABORTED
   * by libraries.stopReading.
   */
  'libraries.read': procedure(
    z.object({
      /** Absent: the sample library. */
      path: z.string().min(1).optional(),
      precompute: z.boolean().default(true),
    }),
    z.object({
      libraryId: IdSchema,
      /** The folder, with links resolved. */
      root: z.string(),
      sync: SyncReportSchema,
      /** null if it was not requested, or the model's passages cannot be blended. */
      precompute: PrecomputeReportSchema.nullable(),
    }),
  ),
  /** What the model in use has left to compute of a library, or of all; null if its passages cannot be blended. */
  'libraries.plan': procedure(
    z.object({ id: IdSchema.optional() }),
    z.object({ plan: PrecomputePlanSchema.nullable() }),
  ),
  /** Finished work is kept. */
  'libraries.stopReading': procedure(NothingSchema, NothingSchema),

  'documents.list': procedure(
    WindowSchema.extend({
      /** Absent: all libraries. */
      libraryId: IdSchema.optional(),
      search: z.string().max(500).default(''),
      phase: z.enum(['all', 'ready', 'working', 'failed']).default('all'),
      sort: z.enum(['path', 'title', 'modified', 'bytes', 'tokens']).default('path'),
      descending: z.boolean().default(false),
    }),
    z.object({ total: z.int(), items: z.array(DocumentInfoSchema) }),
  ),
  'documents.get': procedure(ById, DocumentInfoSchema),
  /** Those of these documents that still exist, in the given order. */
  'documents.some': procedure(Ids, z.array(DocumentInfoSchema)),
  /** Ids of a library's documents at or below local paths, once those have been scanned. NOT_FOUND. */
  'documents.below': procedure(
    z.object({ libraryId: IdSchema, paths: z.array(z.string().min(1)).min(1).max(10_000) }),
    z.object({ ids: z.array(IdSchema) }),
  ),
  /** At most 200,000 UTF-16 units at a time. */
  'documents.text': procedure(
    z.object({
      id: IdSchema,
      offset: z.int().min(0).default(0),
      limit: z.int().min(1).max(200_000).default(200_000),
    }),
    DocumentTextSchema,
  ),
  /**
   * Rows of one sheet of a workbook or a CSV file, read from its file. DOCUMENT_UNSUPPORTED for other documents, and every
   * error of reading it.
   */
  'documents.rows': procedure(
    WindowSchema.extend({
      id: IdSchema,
      /** Its index; absent: the sheet of the passage, else the first that has rows. */
      sheet: z.int().min(0).optional(),
      /** UTF-16 range in the document's text: its rows are marked. */
      passage: RangeSchema.optional(),
    }),
    z.object({
      total: z.int(),
      items: z.array(SheetRowSchema),
      sheet: z.int(),
      sheets: z.array(z.object({ name: z.string(), rows: z.int(), columns: z.int() })),
      /** Names of the columns shown, which may be fewer than there are; '' for those without. */
      header: z.array(z.string()),
      firstMarked: z.int().nullable(),
    }),
  ),
  /** Whether the document's file has changed since its text was read. A missing file has not. */
  'documents.changed': procedure(ById, z.object({ changed: z.boolean() })),
  /** Makes the page that the frame then shows. `start`, `end`: a passage of the text. NOT_FOUND; every DOCUMENT_… code. */
  'documents.page': procedure(DocumentPartSchema, DocumentPageSchema),
  /** Where a passage is on pages whose text was recognised. NOT_FOUND. */
  'documents.lines': procedure(RangeSchema.extend({ id: IdSchema }), z.array(PageLinesSchema)),
  'documents.chunks': procedure(
    WindowSchema.extend({ id: IdSchema }),
    z.object({ total: z.int(), items: z.array(ChunkInfoSchema) }),
  ),
  /**
   * Removes documents from their library, with their chunks and the KV that no other document shares. A file in a
   * user's folder stays in place and is not picked up again; an uploaded copy is deleted.
   */
  'documents.delete': procedure(Ids, z.object({ evictedChunks: z.int(), evictedBytes: z.number() })),
  'documents.retry': procedure(Ids, NothingSchema),
  /** Fetches a document's page again. NOT_FOUND unless it has an address; the errors of libraries.addAddress. */
  'documents.refetch': procedure(ById, DocumentInfoSchema),

  'queue.status': procedure(NothingSchema, QueueStatusSchema),
  'queue.pause': procedure(NothingSchema, QueueStatusSchema),
  'queue.resume': procedure(NothingSchema, QueueStatusSchema),
  'queue.retryFailed': procedure(z.object({ libraryId: IdSchema.optional() }), QueueStatusSchema),

  /** Chunk boundaries of a document's first 200,000 UTF-16 units for a chunk size, without storing anything. */
  'chunking.preview': procedure(
    z.object({ chunkTokens: z.int().min(16).max(8192), documentId: IdSchema }),
    z.object({
      text: z.string(),
      chunks: z.array(RangeSchema.extend({ tokens: z.int(), headings: z.array(z.string()) })),
    }),
  ),
};

/** Whether questions find a document: it has been read and chunked for the current model. */
export function isSearchable({ phase, chunks }: Pick<DocumentInfo, 'phase' | 'chunks'>): boolean {
  const hasOwnText = phase === 'recognising' && chunks > 0;
  return hasOwnText || phase === 'indexing' || phase === 'precomputing' || phase === 'ready';
}

export type PrecomputePlan = z.infer<typeof PrecomputePlanSchema>;
export type SourceRoot = z.infer<typeof SourceRootSchema>;
export type SkippedFile = z.infer<typeof SkippedFileSchema>;
export type LibraryInfo = z.infer<typeof LibraryInfoSchema>;
export type DocumentPhase = z.infer<typeof DocumentPhaseSchema>;
export type DocumentInfo = z.infer<typeof DocumentInfoSchema>;
export type DocumentText = z.infer<typeof DocumentTextSchema>;
export type SheetRow = z.infer<typeof SheetRowSchema>;
export type PageLines = z.infer<typeof PageLinesSchema>;
export type DocumentPart = z.infer<typeof DocumentPartSchema>;
export type ChunkInfo = z.infer<typeof ChunkInfoSchema>;
export type QueueStatus = z.infer<typeof QueueStatusSchema>;
