import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import SQLite from 'better-sqlite3';

/**
 * A database up to this size is checked in full at every start (a few hundredths of a second); a larger one in the
 * background.
 */
const CHECKED_AT_OPEN_BYTES = 32 * 2 ** 20;
/** Suffix of a marker file next to a database that was found damaged in use: the next start checks it in full. */
const SUSPECT = '.suspect';

/** The file is an SQLite database, but damaged, or not one of ours. */
export class DamagedDatabase extends Error {}

/** Whether a start checks all of it. */
export function isCheckedAtOpen(path: string): boolean {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return bytes <= CHECKED_AT_OPEN_BYTES || existsSync(path + SUSPECT);
}

/** Reads every page. DamagedDatabase. */
export function requireSound(connection: SQLite.Database): void {
  const found: unknown = connection.pragma('quick_check(1)', { simple: true });
  if (found !== 'ok') throw new DamagedDatabase(String(found));
}

/**
 * Compares the tables with those that the migrations create up to the database's version, so that another program's
 * file is never taken for ours. DamagedDatabase.
 */
export function requireTables(connection: SQLite.Database, migrations: readonly string[]): void {
  const version = Number(connection.pragma('user_version', { simple: true }));
  const columns = columnsOf(connection);
  if (version === 0 && columns.length > 0)
    throw new DamagedDatabase(`it has ${columns[0] ?? ''} of another program`);
  const model = new SQLite(':memory:');
  model.pragma('foreign_keys = OFF');
  try {
    for (const sql of migrations.slice(0, version)) model.exec(sql);
    const known = new Set(columns);
    const missing = columnsOf(model).find((column) => !known.has(column));
    if (missing !== undefined) throw new DamagedDatabase(`it has no ${missing}`);
  } finally {
    model.close();
  }
}

function columnsOf(connection: SQLite.Database): string[] {
  const query = `SELECT t.name || '.' || c.name FROM sqlite_schema t JOIN pragma_table_xinfo(t.name) c WHERE t.type = 'table'`;
  return connection.prepare(query).pluck().all() as string[];
}

/** Makes the next start check this database in full and, if it is damaged, set it aside. */
export function markSuspect(path: string): void {
  try {
    writeFileSync(path + SUSPECT, '');
  } catch {
    // Then the next start detects it as this one did.
  }
}

export function clearSuspicion(path: string): void {
  rmSync(path + SUSPECT, { force: true });
}

/**
 * Moves an unreadable database aside and returns its new path. Moves its log first: next to a new file SQLite would
 * take the log for that file's. REQUIRES: nobody has it open.
 */
export function moveAside(path: string, nowMs = Date.now()): string {
  const stamp = new Date(nowMs).toISOString().replace(/[-:.]/g, '');
  const target = freeName(`${path}.corrupt-${stamp}`);
  for (const suffix of ['-wal', '-shm', '-journal', '', SUSPECT])
    if (existsSync(path + suffix)) renameSync(path + suffix, target + suffix);
  return target;
}

function freeName(path: string): string {
  for (let n = 0; ; n++) {
    const candidate = n === 0 ? path : `${path}-${n}`;
    if (['', '-wal'].every((suffix) => !existsSync(candidate + suffix))) return candidate;
  }
}

const CHECK_IN_THREAD = `
  const { parentPort, workerData } = process.getBuiltinModule('node:worker_threads');
  const Database = process.getBuiltinModule('node:module').createRequire(workerData.driver)(workerData.driver);
  const database = new Database(workerData.path, { readonly: true });
  parentPort.postMessage(String(database.pragma('quick_check(1)', { simple: true })));
  database.close();
`;

/**
 * Checks a large database on a separate thread while it is in use, and returns the damage; undefined if there is none,
 * or if the database is small enough to be checked at every start.
 */
export async function findDamage(path: string, signal: AbortSignal): Promise<string | undefined> {
  if (isCheckedAtOpen(path) || signal.aborted) return undefined;
  const driver = createRequire(import.meta.url).resolve('better-sqlite3');
  const worker = new Worker(CHECK_IN_THREAD, { eval: true, workerData: { driver, path } });
  const stop = (): void => void worker.terminate();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const found = await new Promise<string>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => resolve('ok')); // stopped
    });
    if (found === 'ok') return undefined;
    markSuspect(path);
    return found;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
