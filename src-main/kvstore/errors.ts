import { KvasirError, type ErrorCode } from '../../src-shared/errors.ts';
import { isFull } from '../platform/paths.ts';

/** The `code` of a Node or SQLite error, '' if it has none. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}

export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

/** SQLite's codes for a database with unexpected bytes, and for a file that is not a database. */
export function isCorruptDatabase(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error));
}

/**
 * Converts an error in the store's folder to the app's type and code. Errors that the environment did not cause
 * (misuse, broken invariants) are returned unchanged.
 */
export function toStoreError(error: unknown, dir: string): unknown {
  if (error instanceof KvasirError) return error;
  const kind = classify(codeOf(error), dir);
  if (!kind) return error;
  const { message, advice } = WORDS[kind];
  return new KvasirError(kind, message(dir, codeOf(error)), advice, { cause: error });
}

type StoreErrorCode = Extract<ErrorCode, 'DISK_FULL' | 'STORE_READ_ONLY' | 'STORE_CORRUPT' | 'STORE_IN_USE'>;

function classify(code: string, dir: string): StoreErrorCode | undefined {
  // ENOTDIR and EEXIST: a part of the folder's path is a file. SQLITE_CANTOPEN: the same, or no permission to create. EIO and the three after
  // it: the disk fails, or is gone.
  if (
    /^(EROFS|EACCES|EPERM|ENOTDIR|EEXIST|EIO|ENXIO|ENODEV|ESTALE|SQLITE_READONLY.*|SQLITE_CANTOPEN.*|SQLITE_PERM)$/.test(
      code,
    )
  ) {
    return 'STORE_READ_ONLY';
  }
  if (/^(ENOSPC|EDQUOT|SQLITE_FULL)$/.test(code)) return 'DISK_FULL';
  if (code === 'SQLITE_IOERR_SHMSIZE') return isFull(dir) ? 'DISK_FULL' : 'STORE_READ_ONLY';
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return 'STORE_IN_USE';
  if (/^SQLITE_(CORRUPT|NOTADB|IOERR)/.test(code)) return 'STORE_CORRUPT';
  return undefined;
}

const WORDS: Record<StoreErrorCode, { message: (dir: string, code: string) => string; advice: string }> = {
  DISK_FULL: {
    message: (dir) => `The disk that holds the cache folder ${dir} is full.`,
    advice: 'Free some space, or lower the cache budget; stored chunks stay usable.',
  },
  STORE_READ_ONLY: {
    message: (dir, code) => `The cache folder ${dir} is not writable (${code}).`,
    advice: 'Check the disk and give Kvasir write permission there, or choose another cache folder.',
  },
  STORE_CORRUPT: {
    message: (dir) => `The cache index in ${dir} cannot be read.`,
    advice: 'Restart Kvasir: it sets a damaged index aside and rebuilds it from the chunk files.',
  },
  STORE_IN_USE: {
    message: (dir) => `Another Kvasir process is using the cache in ${dir}.`,
    advice: 'Close it, or choose another cache folder.',
  },
};
