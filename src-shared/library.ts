import { z } from 'zod';
import { ERROR_CODES } from './errors.ts';

/** A document that a library could not read, and the reason. */
const DocumentFailureSchema = z.object({
  /** Path relative to the library's folder, with forward slashes. */
  path: z.string(),
  code: z.enum(ERROR_CODES),
  /** One sentence that names the file. */
  message: z.string(),
});

/** Progress of a long library run. `secondsLeft` is undefined until it can be estimated. */
export const LibraryProgressSchema = z.object({
  phase: z.enum(['scanning', 'reading', 'precomputing', 'measuring']),
  /** Documents while scanning and reading, chunks while precomputing, answers while measuring. */
  done: z.int(),
  total: z.int(),
  /** Tokens precomputed so far in this run. */
  tokens: z.int(),
  secondsLeft: z.number().optional(),
});

export const SyncReportSchema = z.object({
  documents: z.int(),
  /** Documents read again because they are new or were edited. */
  updated: z.int(),
  /** Documents dropped because their file is gone. */
  removed: z.int(),
  chunks: z.int(),
  failures: z.array(DocumentFailureSchema),
  /** Paths of files of unsupported types. */
  skipped: z.array(z.string()),
});

export const PrecomputeReportSchema = z.object({
  /** Distinct chunks of the library: in total, computed now, fetched from other machines, and already stored. */
  chunks: z.int(),
  computed: z.int(),
  fetched: z.int(),
  stored: z.int(),
  tokens: z.int(),
  bytes: z.number(),
  ms: z.number(),
  /** Bytes of chunks left out because they exceed the disk budget; 0 if all fit. */
  overBudgetBytes: z.number(),
});

export type DocumentFailure = z.infer<typeof DocumentFailureSchema>;
export type LibraryProgress = z.infer<typeof LibraryProgressSchema>;
export type SyncReport = z.infer<typeof SyncReportSchema>;
export type PrecomputeReport = z.infer<typeof PrecomputeReportSchema>;
