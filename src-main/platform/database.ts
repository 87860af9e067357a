import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import SQLite, { type Statement } from 'better-sqlite3';
import { KvasirError } from '../../src-shared/errors.ts';
import { Checkpoints, LOG_BYTES, LOG_PAGES, VACUUMED_BYTES } from './checkpoints.ts';
import {
  clearSuspicion,
  DamagedDatabase,
  isCheckedAtOpen,
  markSuspect,
  moveAside,
  requireSound,
  requireTables,
} from './damaged-database.ts';
import { fileError, isFull } from './paths.ts';

/** Pages of an FTS5 index written in one step of purgeWords(): a few milliseconds. */
const PURGED_PAGES = 64;
/** Size in bytes up to which a large database is vacuumed when it closes: about five seconds of CPU. */
const CLOSING_BYTES = 2 ** 30;
/** SQLite's header field `application_id` of a large database whose pages may have deleted rows in unused parts. */
const UNCLEAN = 0x4b76_7361;

/* eslint-disable @typescript-eslint/no-unnecessary-type-parameters -- only the author of a query knows its rows' type */

/**
 * An SQLite database: the only way to run statements. Each statement is compiled once and cached by its text, because
 * for short queries compiling takes longer than running; so keep the number of texts small and bind variable parts.
 * Values are bound in order, or by name from one object.
 */
export class Database {
  readonly #connection: SQLite.Database;
  readonly #typed: (error: unknown) => unknown;
  readonly #checkpoints: Checkpoints | undefined;
  readonly #statements = new Map<string, Statement>();
  readonly #plucked = new Map<string, Statement>();
  /** The schema's version before it was migrated at this start; 0: a new file. */
  openedVersion = 0;

  /** `typed` converts SQLite's errors; by default they are thrown unchanged. */
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

  /** Returns the number of rows changed. */
  run(sql: string, ...values: unknown[]): number {
    return this.#write(() => this.#compiled(sql).run(...values).changes);
  }

  /**
   * Yields rows one by one. Nothing may be written until it ends; compiled each time, so that several iterations can
   * run concurrently.
   */
  iterate<T>(sql: string, ...values: unknown[]): IterableIterator<T> {
    return this.#connection.prepare(sql).iterate(...values) as IterableIterator<T>;
  }

  /** Compiles statements ahead of their use. Throws if one refers to something that is not in the schema. */
  compile(texts: Iterable<string>): void {
    for (const sql of texts) this.#compiled(sql);
  }

  /** Runs one-off statements without results, such as those of a schema. */
  exec(sql: string): void {
    this.#write(() => this.#connection.exec(sql));
  }

  /** Sets a pragma, or returns its value. */
  pragma(sql: string): unknown {
    return this.#run(() => this.#connection.pragma(sql, { simple: true }));
  }

  /** Defines an SQL function of texts for statements and triggers of this connection. */
  define(name: string, work: (...texts: string[]) => string): void {
    const options = { deterministic: true, varargs: true };
    this.#connection.function(name, options, (...texts: unknown[]) => work(...texts.map(String)));
  }

  /** Runs `work` in a transaction, or as part of the open one. */
  transaction<T>(work: () => T): T {
    return this.#write(() => this.#connection.transaction(work)());
  }

  /**
   * Like transaction(), for what people were told is stored: a power cut undoes neither it nor anything before it. Other
   * transactions outlast the process only. Not within another one.
   */
  durable<T>(work: () => T): T {
    this.pragma('synchronous = FULL');
    try {
      return this.transaction(work);
    } finally {
      this.pragma('synchronous = NORMAL');
    }
  }

  /** Long writes await this between their steps. */
  async rest(): Promise<void> {
    await this.#checkpoints?.rest();
  }

  /** Rows were deleted that people want gone: in a few seconds, no page and no log has them; in a large database, when it closes. */
  forget(): void {
    this.#checkpoints?.clean();
    if (this.#bytes > VACUUMED_BYTES && this.pragma('application_id') === 0)
      this.pragma(`application_id = ${UNCLEAN}`); // another number is a format's own
  }

  get #bytes(): number {
    return Number(this.pragma('page_count')) * Number(this.pragma('page_size'));
  }

  /**
   * Writes an FTS5 index with `contentless_delete` again without the words of deleted rows, which it keeps until it
   * happens to merge their segments. Yields after each short step; other statements may run in between. Can be repeated
   * after it was interrupted.
   */
  *purgeWords(table: string): Generator<void> {
    const changes = (): number => this.value<number>('SELECT total_changes()') ?? 0;
    // A negative number begins a merge of all segments; positive ones continue it, until a step changes nothing.
    for (let pages = -PURGED_PAGES; ; pages = PURGED_PAGES) {
      const before = changes();
      this.run(`INSERT INTO ${table} (${table}, rank) VALUES ('merge', CAST(? AS INTEGER))`, pages);
      if (changes() - before < 2) return;
      yield;
    }
  }

  close(): void {
    this.#checkpoints?.close();
    try {
      this.#vacuum();
    } catch {
      // Without room, or held by another program: the next close tries again.
    }
    this.#connection.close();
  }

  /** A large database after deletions. While it was in use, this would have blocked writes for seconds. */
  #vacuum(): void {
    if (!this.#checkpoints || this.pragma('application_id') !== UNCLEAN || this.#bytes > CLOSING_BYTES)
      return;
    this.#connection.exec('VACUUM'); // not exec(), which asks for a checkpoint
    this.pragma('application_id = 0');
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
 * The first row. A writing statement is run to its end: get() stops at the row, before the commit, and does not report
 * a failing commit, as on a full disk.
 */
function first(statement: Statement, values: unknown[]): unknown {
  return statement.readonly ? statement.get(...values) : statement.all(...values)[0];
}

/* eslint-enable @typescript-eslint/no-unnecessary-type-parameters */

/**
 * Opens an SQLite database, in WAL mode where the drive allows it, and migrates its schema to the newest version:
 * version n to n + 1, in a transaction with the version number. A copy of an older version is kept as
 * <path>.v<version>. SQLite's errors are converted, now and later: STORE_READ_ONLY, DISK_FULL, DATABASE_HELD;
 * STORE_CORRUPT if pages are damaged or the file is another program's; STORE_VERSION if a newer program has migrated it
 * further.
 */
export function openDatabase(path: string, migrations: readonly string[]): Database {
  try {
    return open(path, migrations, 'WAL');
  } catch (error) {
    if (!isUnmapped(error)) throw openingError(error, path);
  }
  // As on some network drives. Slower, since every transaction is synced.
  try {
    return open(path, migrations, 'TRUNCATE');
  } catch (error) {
    throw openingError(error, path);
  }
}

/** Errors of SQLite, and of the file system as at the copy before a migration. */
function openingError(error: unknown, path: string): unknown {
  const isOfFiles = (error as NodeJS.ErrnoException).syscall !== undefined;
  return isOfFiles
    ? fileError(error, `The database ${path} could not be opened`)
    : databaseError(error, path);
}

/** Whether the drive maps no file into the memory of several processes, which the log of WAL mode needs. */
export function isUnmapped(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === 'SQLITE_IOERR_SHMMAP';
}

/** Throws SQLite's errors, and KvasirErrors. */
function open(path: string, migrations: readonly string[], journal: 'WAL' | 'TRUNCATE'): Database {
  let connection: SQLite.Database | undefined;
  try {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
      throw new DamagedDatabase('a folder stands in its place');
    connection = new SQLite(path);
    const checkpoints = path === ':memory:' ? undefined : new Checkpoints(path);
    const database = new Database(connection, (error) => typedInUse(error, path), checkpoints);
    // A log that a process on another drive has left is read without a mapping by a connection that is alone.
    if (journal === 'TRUNCATE') connection.pragma('locking_mode = EXCLUSIVE');
    if (isCheckedAtOpen(path)) requireSound(connection);
    connection.pragma(`journal_mode = ${journal}`);
    connection.pragma('locking_mode = NORMAL');
    connection.pragma('user_version'); // the first access in this mode
    database.pragma('synchronous = NORMAL');
    database.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
    database.pragma(`journal_size_limit = ${LOG_BYTES}`);
    database.pragma('secure_delete = ON'); // deleted rows are overwritten, not only unlinked
    // Off while tables are rebuilt: dropping one would delete the rows that refer to it.
    database.pragma('foreign_keys = OFF');
    refuseNewer(Number(database.pragma('user_version')), migrations, path);
    requireTables(connection, migrations);
    migrate(database, migrations, path);
    database.pragma('foreign_keys = ON');
    clearSuspicion(path);
    return database;
  } catch (error) {
    connection?.close();
    throw error;
  }
}

/** Opens a database that this process has open, for another thread to read. SQLite's errors are converted as by openDatabase(). */
export function openForReading(path: string): Database {
  const connection = new SQLite(path, { readonly: true, fileMustExist: true });
  return new Database(connection, (error) => typedInUse(error, path));
}

/** A database that had to be set aside. */
export interface QuarantinedDatabase {
  path: string;
  keptAs: string;
}

/**
 * Like openDatabase(), but an unreadable file is set aside as <path>.corrupt-<time> and replaced with an empty one:
 * otherwise Kvasir could not start, and so could not restore a backup. `use` builds the result; damage found by it
 * counts as well. Ids in the new database begin above all that the old one can have used.
 */
export function openOrSetAside<T>(
  path: string,
  migrations: readonly string[],
  use: (database: Database) => T,
  onSetAside: (what: QuarantinedDatabase) => void = () => undefined,
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

/** Seconds since 1970 grow faster than ids: a reference to a row of the old file never matches another row. */
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
  database.openedVersion = version;
  if (version > 0 && version < migrations.length) keepCopy(database, `${path}.v${version}`);
  migrations.slice(version).forEach((sql, offset) => {
    database.transaction(() => {
      database.exec(sql);
      database.pragma(`user_version = ${version + offset + 1}`);
    });
  });
}

/**
 * Opens a database that nobody has open, as openDatabase() would, and migrates it. STORE_CORRUPT, STORE_VERSION, and
 * other errors of opening it.
 */
export function checkDatabase(path: string, migrations: readonly string[]): void {
  markSuspect(path); // whatever its size
  try {
    openDatabase(path, migrations).close();
  } finally {
    clearSuspicion(path);
  }
}

/** Keeps a copy of the database before a migration, in case the migration is wrong. A killed process leaves none, or all of it. */
function keepCopy(database: Database, path: string): void {
  if (existsSync(path)) return;
  const part = `${path}.part`;
  for (const suffix of ['', '-journal']) rmSync(part + suffix, { force: true });
  database.run('VACUUM INTO ?', part);
  const file = openSync(part, 'r+');
  try {
    fsyncSync(file); // SQLite does not
  } finally {
    closeSync(file);
  }
  renameSync(part, path);
}

/** Damage found while the database is in use is examined at the next start. */
function typedInUse(error: unknown, path: string): unknown {
  const typed = databaseError(error, path);
  if (typed instanceof KvasirError && typed.code === 'STORE_CORRUPT') markSuspect(path);
  return typed;
}

/** Converts SQLite's errors to typed errors; returns others unchanged. */
export function databaseError(error: unknown, path: string): unknown {
  const code =
    error instanceof DamagedDatabase ? 'SQLITE_CORRUPT' : (error as { code?: unknown } | undefined)?.code;
  if (error instanceof KvasirError || typeof code !== 'string') return error;
  if (code === 'SQLITE_FULL' || (code === 'SQLITE_IOERR_SHMSIZE' && isFull(dirname(path))))
    return fileError({ code: 'ENOSPC', path }, `${path} could not be written`);
  if (code.startsWith('SQLITE_CORRUPT') || code === 'SQLITE_NOTADB') {
    const advice = 'Restart Kvasir, which sets the file aside and opens the rest; then restore a backup.';
    return new KvasirError('STORE_CORRUPT', `The database ${path} is damaged and cannot be read.`, advice, {
      cause: error,
    });
  }
  if (code.startsWith('SQLITE_BUSY')) {
    const message = `The database ${path} is in use by another program, so nothing was written.`;
    const advice =
      'Try again later: a backup program or virus scanner may be reading the file. Kvasir retries background work automatically.';
    return new KvasirError('DATABASE_HELD', message, advice, { cause: error });
  }
  if (code.startsWith('SQLITE_IOERR')) {
    const message = `The database ${path} could not be read or written (${code}).`;
    const advice = 'Check the drive and its connection, then try again.';
    return new KvasirError('STORE_READ_ONLY', message, advice, { cause: error });
  }
  if (/^SQLITE_(READONLY|CANTOPEN|PERM)/.test(code))
    return fileError({ code }, `${path} could not be opened for writing`);
  return error;
}
