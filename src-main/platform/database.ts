import { existsSync, statSync } from 'node:fs';
import SQLite, { type Statement } from 'better-sqlite3';
import { KvasirError } from '../../src-shared/errors.ts';
import { Checkpoints, LOG_BYTES, LOG_PAGES } from './checkpoints.ts';
import {
  clearSuspicion,
  DamagedDatabase,
  isCheckedAtOpen,
  markSuspect,
  moveAside,
  requireSound,
  requireTables,
} from './damaged-database.ts';
import { fileError } from './paths.ts';

/* eslint-disable @typescript-eslint/no-unnecessary-type-parameters --
   only who writes a query knows what its rows look like */

/**
 * An SQLite database: the one way to run statements. Each is compiled once, by its text, since for short queries compiling takes
 * longer than running; so texts must be few: what varies is bound. Values are bound in order, or by name from one object.
 */
export class Database {
  readonly #connection: SQLite.Database;
  readonly #typed: (error: unknown) => unknown;
  readonly #checkpoints: Checkpoints | undefined;
  readonly #statements = new Map<string, Statement>();
  readonly #plucked = new Map<string, Statement>();

  /** `typed` is what becomes of SQLite's failures; by default they are thrown as they are. */
  constructor(connection: SQLite.Database, typed = (error: unknown) => error, checkpoints?: Checkpoints) {
    this.#connection = connection;
    this.#typed = typed;
    this.#checkpoints = checkpoints;
  }

  all<T>(sql: string, ...values: unknown[]): T[] {
    return this.#run(() => this.#compiled(sql).all(...values) as T[]);
  }

  get<T>(sql: string, ...values: unknown[]): T | undefined {
    return this.#run(() => first(this.#compiled(sql), values) as T | undefined);
  }

  /** The first column of all rows. */
  column<T>(sql: string, ...values: unknown[]): T[] {
    return this.#run(() => this.#compiled(sql, true).all(...values) as T[]);
  }

  /** The first column of the first row. */
  value<T>(sql: string, ...values: unknown[]): T | undefined {
    return this.#run(() => first(this.#compiled(sql, true), values) as T | undefined);
  }

  /** Gives the number of rows changed. */
  run(sql: string, ...values: unknown[]): number {
    return this.#write(() => this.#compiled(sql).run(...values).changes);
  }

  /** One row after another. Nothing may be written until the end; compiled each time, so that several can run at once. */
  iterate<T>(sql: string, ...values: unknown[]): IterableIterator<T> {
    return this.#connection.prepare(sql).iterate(...values) as IterableIterator<T>;
  }

  /** Compiles statements ahead of their use. Throws when one names what the schema does not have. */
  compile(texts: Iterable<string>): void {
    for (const sql of texts) this.#compiled(sql);
  }

  /** Runs statements that give nothing and are needed once, as those of a schema. */
  exec(sql: string): void {
    this.#write(() => this.#connection.exec(sql));
  }

  /** Sets a pragma, or gives its value. */
  pragma(sql: string): unknown {
    return this.#run(() => this.#connection.pragma(sql, { simple: true }));
  }

  /** Makes a function of texts that statements and triggers of this connection can call. */
  define(name: string, work: (...texts: string[]) => string): void {
    const options = { deterministic: true, varargs: true };
    this.#connection.function(name, options, (...texts: unknown[]) => work(...texts.map(String)));
  }

  /** Runs `work` in one transaction, or as a part of the one that is open. */
  transaction<T>(work: () => T): T {
    return this.#write(() => this.#connection.transaction(work)());
  }

  /** Work that writes very much awaits this between its steps. */
  async rest(): Promise<void> {
    await this.#checkpoints?.rest();
  }

  close(): void {
    this.#checkpoints?.close();
    this.#connection.close();
  }

  #compiled(sql: string, pluck = false): Statement {
    const known = pluck ? this.#plucked : this.#statements;
    let statement = known.get(sql);
    if (!statement) {
      statement = this.#connection.prepare(sql);
      known.set(sql, pluck ? statement.pluck() : statement);
    }
    return statement;
  }

  #write<T>(work: () => T): T {
    const result = this.#run(work);
    this.#checkpoints?.soon();
    return result;
  }

  #run<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.#typed(error);
    }
  }
}

/**
 * The first row. One that writes is run to its end: get() stops at the row, before it is committed, and says nothing when that fails,
 * as it does on a full disk.
 */
function first(statement: Statement, values: unknown[]): unknown {
  return statement.readonly ? statement.get(...values) : statement.all(...values)[0];
}

/* eslint-enable @typescript-eslint/no-unnecessary-type-parameters */

/**
 * Opens an SQLite database in WAL mode and brings its schema to the newest version: `migrations[n]` leads from version
 * n to n + 1, in a transaction with the version number. The database of an older version is kept as <path>.v<version>.
 * Then and later SQLite's failures are typed: STORE_READ_ONLY, DISK_FULL, DATABASE_HELD; STORE_CORRUPT when pages are damaged or the
 * file is another program's; STORE_VERSION when a newer program has migrated it further.
 */
export function openDatabase(path: string, migrations: readonly string[]): Database {
  let connection: SQLite.Database | undefined;
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
      throw new DamagedDatabase('a folder stands in its place');
    connection = new SQLite(path);
    const checkpoints = path === ':memory:' ? undefined : new Checkpoints(path);
    const database = new Database(connection, (error) => typedInUse(error, path), checkpoints);
    if (isCheckedAtOpen(path)) requireSound(connection);
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    database.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
    database.pragma(`journal_size_limit = ${LOG_BYTES}`);
    // Off while tables are rebuilt: dropping one would empty those that refer to it.
    database.pragma('foreign_keys = OFF');
    refuseNewer(Number(database.pragma('user_version')), migrations, path);
    requireTables(connection, migrations);
    migrate(database, migrations, path);
    database.pragma('foreign_keys = ON');
    clearSuspicion(path);
    return database;
  } catch (error) {
    connection?.close();
    throw databaseError(error, path);
  }
}

/** A database that had to be set aside. */
export interface SetAside {
  path: string;
  keptAs: string;
}

/**
 * As openDatabase(), but a file that cannot be read is set aside as <path>.corrupt-<time>, and an empty one takes its place:
 * without it Kvasir would not start, and so could not restore a backup. `use` makes of it what is wanted; damage that it
 * meets counts as well. Ids in the new one begin above all that the old one can have given.
 */
export function openOrSetAside<T>(
  path: string,
  migrations: readonly string[],
  use: (database: Database) => T,
  onSetAside: (what: SetAside) => void = () => undefined,
): T {
  try {
    return using(openDatabase(path, migrations), use);
  } catch (error) {
    if (!(error instanceof KvasirError && error.code === 'STORE_CORRUPT')) throw error;
    const keptAs = moveAside(path);
    const database = openDatabase(path, migrations);
    startIdsAt(database, Math.floor(Date.now() / 1000));
    const used = using(database, use);
    onSetAside({ path, keptAs });
    return used;
  }
}

function using<T>(database: Database, use: (database: Database) => T): T {
  try {
    return use(database);
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Seconds since 1970 grow faster than ids: what refers to a row of the old file finds no other one under its id. */
function startIdsAt(database: Database, first: number): void {
  const tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'";
  for (const name of database.column<string>(tables))
    database.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', name, first);
}

function refuseNewer(version: number, { length }: readonly string[], path: string): void {
  if (version <= length) return;
  throw new KvasirError(
    'STORE_VERSION',
    `${path} was written by a newer version of Kvasir (schema ${version}, this one knows ${length}).`,
    'Update Kvasir, or choose another folder with --data.',
  );
}

function migrate(database: Database, migrations: readonly string[], path: string): void {
  const version = Number(database.pragma('user_version'));
  if (version > 0 && version < migrations.length) keepCopy(database, `${path}.v${version}`);
  migrations.slice(version).forEach((sql, offset) => {
    database.transaction(() => {
      database.exec(sql);
      database.pragma(`user_version = ${version + offset + 1}`);
    });
  });
}

/**
 * Looks at a database that nobody has open, as openDatabase() would, and migrates it. STORE_CORRUPT, STORE_VERSION, and what else
 * opening it meets.
 */
export function checkDatabase(path: string, migrations: readonly string[]): void {
  markSuspect(path); // whatever its size
  try {
    openDatabase(path, migrations).close();
  } finally {
    clearSuspicion(path);
  }
}

/** What a migration gets wrong must not be lost: the database as it was stays beside it. */
function keepCopy(database: Database, path: string): void {
  if (!existsSync(path)) database.run('VACUUM INTO ?', path);
}

/** Damage that is met while the database is in use is looked into at the next start. */
function typedInUse(error: unknown, path: string): unknown {
  const typed = databaseError(error, path);
  if (typed instanceof KvasirError && typed.code === 'STORE_CORRUPT') markSuspect(path);
  return typed;
}

/** SQLite's own failures as typed errors; anything else as it is. */
export function databaseError(error: unknown, path: string): unknown {
  const code =
    error instanceof DamagedDatabase ? 'SQLITE_CORRUPT' : (error as { code?: unknown } | undefined)?.code;
  if (error instanceof KvasirError || typeof code !== 'string') return error;
  // SHMSIZE: the file that connections to a database share could not grow.
  if (/^SQLITE_(FULL|IOERR_SHMSIZE)/.test(code))
    return fileError({ code: 'ENOSPC', path }, `${path} could not be written`);
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') {
    const advice = 'Start Kvasir again: it sets the file aside and opens the rest; then restore a backup.';
    return new KvasirError('STORE_CORRUPT', `The database ${path} is damaged and cannot be read.`, advice, {
      cause: error,
    });
  }
  if (code.startsWith('SQLITE_BUSY')) {
    const message = `Another program is holding the database ${path}, so nothing was written.`;
    const advice =
      'Try again once it lets go: a backup or a virus scanner may be reading the file. Kvasir retries its background work by itself.';
    return new KvasirError('DATABASE_HELD', message, advice, { cause: error });
  }
  if (/^SQLITE_(READONLY|CANTOPEN|IOERR|PERM)/.test(code))
    return fileError({ code }, `${path} could not be opened for writing`);
  return error;
}
