import { existsSync } from 'node:fs';
import Database, { type Statement } from 'better-sqlite3';
import { KvasirError } from '../../src-shared/errors.ts';
import { fileError } from './paths.ts';

export type { Database } from 'better-sqlite3';

/**
 * Opens an SQLite database in WAL mode and brings its schema to the newest version: `migrations[n]` leads from version
 * n to n + 1, in a transaction with the version number. The database of an older version is kept as <path>.v<version>. STORE_READ_ONLY, DISK_FULL, STORE_CORRUPT, STORE_VERSION when a newer
 * program has migrated it further.
 */
export function openDatabase(path: string, migrations: readonly string[]): Database.Database {
  let database: Database.Database | undefined;
  try {
    database = new Database(path);
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    // Off while tables are rebuilt: dropping one would empty those that refer to it.
    database.pragma('foreign_keys = OFF');
    migrate(database, migrations, path);
    database.pragma('foreign_keys = ON');
    return database;
  } catch (error) {
    database?.close();
    throw databaseError(error, path);
  }
}

function migrate(database: Database.Database, migrations: readonly string[], path: string): void {
  const version = Number(database.pragma('user_version', { simple: true }));
  if (version > migrations.length) {
    throw new KvasirError(
      'STORE_VERSION',
      `${path} was written by a newer version of Kvasir (schema ${version}, this one knows ${migrations.length}).`,
      'Update Kvasir, or choose another folder with --data.',
    );
  }
  if (version > 0 && version < migrations.length) keepCopy(database, `${path}.v${version}`);
  migrations.slice(version).forEach((sql, offset) => {
    database.transaction(() => {
      database.exec(sql);
      database.pragma(`user_version = ${version + offset + 1}`);
    })();
  });
}

/** What a migration gets wrong must not be lost: the database as it was stays beside it. */
function keepCopy(database: Database.Database, path: string): void {
  if (!existsSync(path)) database.prepare('VACUUM INTO ?').run(path);
}

/** Statements by their database and text. */
const compiled = new WeakMap<Database.Database, Map<string, Statement>>();

/** A statement that is compiled once: for short queries that takes longer than running them. Its mode (pluck, raw) must stay as it is. */
export function prepared(database: Database.Database, sql: string): Statement {
  let statements = compiled.get(database);
  if (!statements) compiled.set(database, (statements = new Map<string, Statement>()));
  let statement = statements.get(sql);
  if (!statement) statements.set(sql, (statement = database.prepare(sql)));
  return statement;
}

/** SQLite's own failures as typed errors; anything else as it is. */
export function databaseError(error: unknown, path: string): unknown {
  const code = (error as { code?: unknown } | undefined)?.code;
  if (error instanceof KvasirError || typeof code !== 'string') return error;
  // SHMSIZE: the file that connections to a database share could not grow.
  if (/^SQLITE_(FULL|IOERR_SHMSIZE)/.test(code))
    return fileError({ code: 'ENOSPC' }, `${path} could not be written`);
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') {
    const advice = 'Move the file away; Kvasir makes a new one from your documents.';
    return new KvasirError('STORE_CORRUPT', `The database ${path} is damaged and cannot be read.`, advice, {
      cause: error,
    });
  }
  if (code.startsWith('SQLITE_BUSY')) {
    const advice = 'Close the other Kvasir, or choose another folder with --data.';
    return new KvasirError('STORE_IN_USE', `The database ${path} is in use by another process.`, advice, {
      cause: error,
    });
  }
  if (/^SQLITE_(READONLY|CANTOPEN|IOERR|PERM)/.test(code))
    return fileError({ code }, `${path} could not be opened for writing`);
  return error;
}
