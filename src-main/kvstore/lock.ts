import { rmSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { KvasirError } from '../../src-shared/errors.ts';
import { codeOf, isCorruptDatabase } from './errors.ts';

/**
 * Exclusive ownership of a store: an open exclusive transaction on a separate database. The kernel releases it when the
 * process dies for any reason, so there is no stale lock to clean up. It works within one process too.
 */
export class StoreLock {
  readonly #db: Database.Database;

  private constructor(db: Database.Database) {
    this.#db = db;
  }

  /**
   * Never waits. Throws SQLITE_BUSY if the lock is held, and errors of opening a file; STORE_READ_ONLY if the drive has
   * no locks.
   */
  static take(path: string): StoreLock {
    try {
      return StoreLock.#attempt(path);
    } catch (error) {
      if (isRefused(error) && !canLock(dirname(path))) throw noLocks(dirname(path), error);
      if (!isCorruptDatabase(error)) throw error;
      // Only the holder of the lock can read the garbage, so nobody else holds it. Truncated, not replaced: a new file
      // would let a second process lock the old one.
      truncateSync(path, 0);
      return StoreLock.#attempt(path);
    }
  }

  static #attempt(path: string): StoreLock {
    const db = new Database(path, { timeout: 0 });
    try {
      // The transaction never writes; without this, beginning it would create a journal, which fails on a full disk.
      db.pragma('journal_mode = MEMORY');
      db.exec('BEGIN EXCLUSIVE');
      return new StoreLock(db);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  release(): void {
    this.#db.close();
  }
}

function isRefused(error: unknown): boolean {
  return /^SQLITE_(BUSY|IOERR_\w*LOCK)/.test(codeOf(error));
}

/** Whether the drive of a folder locks files, or cannot be asked: SQLite reports some refusals as if another process held the lock. */
function canLock(dir: string): boolean {
  const path = join(dir, `lock-probe-${process.pid}.db`);
  try {
    const db = new Database(path, { timeout: 0 });
    try {
      db.pragma('journal_mode = MEMORY');
      db.exec('BEGIN EXCLUSIVE');
      return true;
    } finally {
      db.close();
    }
  } catch (error) {
    return !isRefused(error);
  } finally {
    rmSync(path, { force: true });
  }
}

function noLocks(dir: string, cause: unknown): KvasirError {
  const message = `The drive of ${dir} does not lock files, so a second process could damage the data.`;
  const advice =
    'Choose a data folder on a local drive with --data or KVASIR_DATA, or mount this drive with local locks (SMB: nobrl, NFS: nolock).';
  return new KvasirError('STORE_READ_ONLY', message, advice, { cause });
}
