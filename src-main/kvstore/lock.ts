import { truncateSync } from 'node:fs';
import Database from 'better-sqlite3';
import { isCorruptDatabase } from './errors.ts';

/**
 * Exclusive ownership of a store: an open exclusive transaction on a database of its own. The kernel ends it with the
 * process, however that dies, so there is no stale lock to clean up. It works within one process too.
 */
export class StoreLock {
  readonly #db: Database.Database;

  private constructor(db: Database.Database) {
    this.#db = db;
  }

  /** Never waits. Throws SQLITE_BUSY when the lock is held, and what opening a file throws. */
  static take(path: string): StoreLock {
    try {
      return StoreLock.#attempt(path);
    } catch (error) {
      if (!isCorruptDatabase(error)) throw error;
      // Garbage in the file can only be seen by who could lock it, so nobody holds it. Emptied, not replaced: a new
      // file would let a second process lock the old one.
      truncateSync(path, 0);
      return StoreLock.#attempt(path);
    }
  }

  static #attempt(path: string): StoreLock {
    const db = new Database(path, { timeout: 0 });
    try {
      // The transaction never writes; without this, beginning it would make a journal, which a full disk refuses.
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
