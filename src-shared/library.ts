import type { ErrorCode } from './errors.ts';

/** A document that a library could not read, and the reason. */
export interface DocumentFailure {
  /** Path relative to the library's folder, with forward slashes. */
  path: string;
  code: ErrorCode;
  /** One sentence that names the file. */
  message: string;
}

type LibraryPhase = 'scanning' | 'reading' | 'precomputing' | 'measuring';

/** Progress of a long library run. `secondsLeft` is undefined until it can be estimated. */
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
  /** Paths of files of unsupported types. */
  skipped: string[];
}

export interface PrecomputeReport {
  /** Distinct chunks of the library: in total, computed now, fetched from other machines, and already stored. */
  chunks: number;
  computed: number;
  fetched: number;
  stored: number;
  tokens: number;
  bytes: number;
  ms: number;
  /** Bytes of chunks left out because they exceed the disk budget; 0 if all fit. */
  overBudgetBytes: number;
}
