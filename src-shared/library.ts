import type { ErrorCode } from './errors.ts';

/** A document that a library refused, and why. */
export interface DocumentFailure {
  /** Path relative to the library's folder, with forward slashes. */
  path: string;
  code: ErrorCode;
  /** One sentence that names the file. */
  message: string;
}

type LibraryPhase = 'scanning' | 'reading' | 'precomputing' | 'measuring';

/** How far a long library run is. `secondsLeft` is undefined until something can be estimated. */
export interface LibraryProgress {
  phase: LibraryPhase;
  /** Documents while scanning and reading, chunks while precomputing, answers while measuring. */
  done: number;
  total: number;
  /** Tokens precomputed so far in this run. */
  tokens: number;
  secondsLeft: number | undefined;
}

export interface SyncReport {
  documents: number;
  /** Documents read again because they are new or were edited. */
  updated: number;
  /** Documents dropped because their file is gone. */
  removed: number;
  chunks: number;
  failures: DocumentFailure[];
  /** Paths of files of kinds that are not read. */
  skipped: string[];
}

export interface PrecomputeReport {
  /** Distinct chunks of the library, those computed now, those that other machines had, and those that were stored already. */
  chunks: number;
  computed: number;
  fetched: number;
  stored: number;
  tokens: number;
  bytes: number;
  ms: number;
  /** Bytes of chunks that were left out, since the disk budget cannot hold them; 0 when all fit. */
  overBudgetBytes: number;
}
