import { KvasirError, type ErrorCode } from '../../src-shared/errors.ts';

/** The `code` of a Node or SQLite error, '' when it has none. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return typeof code === 'string' ? code : '';
}

export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT';
}

/** SQLite says so when bytes in a database are not what it wrote, or no database at all. */
export function isCorruptDatabase(error: unknown): boolean {
  return /^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(error));
}

/**
 * Gives what went wrong in the store's folder the type and code the rest of the app knows. Errors that are not the
 * environment's doing (misuse, broken invariants) come back as they are.
 */
export function toStoreError(error: unknown, dir: string): unknown {
  if (error instanceof KvasirError) return error;
  const kind = classify(codeOf(error));
  if (!kind) return error;
  const { message, advice } = WORDS[kind];
  return new KvasirError(kind, message(dir), advice, { cause: error });
}

type StoreErrorCode = Extract<ErrorCode, 'DISK_FULL' | 'STORE_READ_ONLY' | 'STORE_CORRUPT' | 'STORE_IN_USE'>;

function classify(code: string): StoreErrorCode | undefined {
  // ENOTDIR and EEXIST: a part of the folder's path is a file. SQLITE_CANTOPEN: the same, or no right to create.
  if (/^(EROFS|EACCES|EPERM|ENOTDIR|EEXIST|SQLITE_READONLY.*|SQLITE_CANTOPEN.*|SQLITE_PERM)$/.test(code)) {
    return 'STORE_READ_ONLY';
  }
  // SHMSIZE: the file that connections to a database share could not grow.
  if (/^(ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR_SHMSIZE)$/.test(code)) return 'DISK_FULL';
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return 'STORE_IN_USE';
  if (/^SQLITE_(CORRUPT|NOTADB|IOERR)/.test(code)) return 'STORE_CORRUPT';
  return undefined;
}

const WORDS: Record<StoreErrorCode, { message: (dir: string) => string; advice: string }> = {
  DISK_FULL: {
    message: (dir) => `The disk that holds the cache folder ${dir} is full.`,
    advice: 'Free some space, or lower the cache budget; what is stored already stays usable.',
  },
  STORE_READ_ONLY: {
    message: (dir) => `The cache folder ${dir} cannot be written.`,
    advice: 'Give Kvasir the right to write there, or choose another cache folder.',
  },
  STORE_CORRUPT: {
    message: (dir) => `The index of the cache in ${dir} cannot be read.`,
    advice: 'Restart Kvasir: it sets a damaged index aside and rebuilds it from the chunk files.',
  },
  STORE_IN_USE: {
    message: (dir) => `Another Kvasir process is using the cache in ${dir}.`,
    advice: 'Close it, or choose another cache folder.',
  },
};
