import { truncateSync } from 'node:fs';
import Database from 'better-sqlite3';
import { isCorruptDatabase } from './errors.ts';

/**
 * Exclusive ownership of a store: an open exclusive transaction on a separate database. The kernel releases it when the
 * process dies for any reason, so there is no stale lock to clean up. It works within one process too.
 */
export class StoreLock {
  readonly #db: Database.Database;

  private constructor(db: Database.Database) {
    this.#db = db;
  }

  /** Never waits. Throws SQLITE_BUSY if the lock is held, and errors of opening a file. */
  static take(path: string): StoreLock {
    try {
      return StoreLock.#attempt(path);
    } catch (error) {
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
