import { closeSync, existsSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import SQLite from 'better-sqlite3';
import { KvasirError } from '../../src-shared/errors.ts';
import { Checkpoints, LOG_BYTES, LOG_PAGES } from '../platform/checkpoints.ts';
import { clearSuspicion, isCheckedAtOpen, moveAside } from '../platform/damaged-database.ts';
import { Database, isUnmapped } from '../platform/database.ts';
import { codeOf, isCorruptDatabase } from './errors.ts';
import { stamp } from './files.ts';
import { ChunkIndex, ImpossibleRow } from './index-db.ts';
import { APPLICATION_ID, MIGRATIONS } from './schema.ts';
import { SimilarChunks } from './similar.ts';

interface OpenedIndex {
  index: ChunkIndex;
  similar: SimilarChunks;
  /** Path of the unreadable index that was set aside; the new one is empty. */
  setAside: string | undefined;
  /** Path of the copy made before migrating. */
  backup: string | undefined;
}

interface OpenIndexOptions {
  /** Milliseconds since 1970; part of the names of preserved files. */
  now: number;
  onFlushFailed: (error: unknown) => void;
  /** Default: all. */
  migrations?: readonly string[];
}

/**
 * Opens the index, creating, migrating or replacing it as needed. The store's lock must be held. STORE_VERSION (nothing
 * is changed then), and SQLite errors if the folder is not writable.
 */
export async function openIndex(path: string, options: OpenIndexOptions): Promise<OpenedIndex> {
  try {
    return { ...(await openExisting(path, options)), setAside: undefined };
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    // Kept for inspection: labels and pins exist only there.
    const setAside = moveAside(path, options.now);
    return { ...(await openExisting(path, options)), setAside };
  }
}

/** The database is readable SQLite, but not an index of a known version. */
class ForeignDatabase extends Error {}

function isUnreadable(error: unknown): boolean {
  // SQLITE_ERROR: a table or column in our statements does not exist.
  const isForeign = error instanceof ForeignDatabase || error instanceof ImpossibleRow;
  return isCorruptDatabase(error) || isForeign || codeOf(error) === 'SQLITE_ERROR';
}

async function openExisting(path: string, options: OpenIndexOptions): Promise<Omit<OpenedIndex, 'setAside'>> {
  const { now, onFlushFailed, migrations = MIGRATIONS } = options;
  refuseNewer(path, migrations.length);
  const db = openShared(path) ?? openAlone(path);
  try {
    db.pragma('foreign_keys = ON');
    // A power cut may lose the last rows, but never damages the index; their files are adopted at the next start.
    db.pragma('synchronous = NORMAL');
    db.pragma('secure_delete = ON');
    // A large index is checked in full only after a read has failed.
    if (isCheckedAtOpen(path) && db.pragma('quick_check(1)') !== 'ok')
      throw new ForeignDatabase('quick_check failed');
    const backup = migrate(db, path, now, migrations);
    const index = await ChunkIndex.open(db, onFlushFailed);
    const similar = new SimilarChunks(db);
    clearSuspicion(path);
    return { index, similar, backup };
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Opens it so that the checkpoint thread can open it too (0215). Undefined if the shared-memory file cannot be created,
 * as on a full disk.
 */
function openShared(path: string): Database | undefined {
  const db = new Database(new SQLite(path), undefined, new Checkpoints(path));
  try {
    db.pragma('journal_mode = WAL');
    db.pragma(`wal_autocheckpoint = ${LOG_PAGES}`);
    db.pragma(`journal_size_limit = ${LOG_BYTES}`);
    db.value('SELECT 1 FROM sqlite_schema'); // the first read of the log creates the file
    return db;
  } catch (error) {
    db.close();
    if (isCorruptDatabase(error)) throw error;
    return undefined; // any other error recurs below
  }
}

/**
 * Opens it for this connection only, which then needs no shared-memory file: stored chunks can be served and evicted on
 * a full disk too.
 */
function openAlone(path: string): Database {
  const db = new Database(new SQLite(path));
  try {
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Leaves a newer version's database unchanged. */
function refuseNewer(path: string, newest: number): void {
  if (!existsSync(path)) return;
  if (!statSync(path).isFile()) throw new ForeignDatabase('it is not a file');
  const { version, applicationId } = existsSync(`${path}-wal`) ? readByConnection(path) : readHeader(path);
  if (version <= newest || applicationId !== APPLICATION_ID) return;
  throw new KvasirError(
    'STORE_VERSION',
    `The cache index ${path} was made by a newer version of Kvasir (index version ${version}; this one knows ${newest}).`,
    'Update Kvasir, or choose another cache folder.',
  );
}

interface Marks {
  version: number;
  applicationId: number;
}

/**
 * Without a write-ahead log the header is authoritative: it has both values at fixed offsets (SQLite's file format,
 * §1.3).
 */
function readHeader(path: string): Marks {
  const header = Buffer.alloc(100);
  const fd = openSync(path, 'r');
  try {
    readSync(fd, header, 0, header.length, 0);
  } finally {
    closeSync(fd);
  }
  return { version: header.readInt32BE(60), applicationId: header.readInt32BE(68) };
}

/** After a crash the log may have newer values. */
function readByConnection(path: string): Marks {
  const shm = `${path}-shm`;
  const hadShm = existsSync(shm);
  try {
    return marksOf(new Database(new SQLite(path, { readonly: true, timeout: 0 })));
  } catch (error) {
    if (!isUnmapped(error)) throw error;
    return marksOf(openAlone(path));
  } finally {
    if (!hadShm) rmSync(shm, { force: true });
  }
}

/** Closes the database. */
function marksOf(db: Database): Marks {
  try {
    return { version: versionOf(db), applicationId: Number(db.pragma('application_id')) };
  } finally {
    db.close();
  }
}

/** Migrates the schema in one transaction; returns the path of the copy made before, if one was needed. */
function migrate(db: Database, path: string, now: number, migrations: readonly string[]): string | undefined {
  const version = versionOf(db);
  const empty = db.value('SELECT 1 FROM sqlite_schema') === undefined;
  if (!empty && (version === 0 || db.pragma('application_id') !== APPLICATION_ID)) {
    throw new ForeignDatabase('not an index of ours');
  }
  if (version === migrations.length) return undefined;
  const backup = empty ? undefined : freeName(`${path}.v${version}-backup-${stamp(now)}`);
  if (backup !== undefined) db.run('VACUUM INTO ?', backup);
  db.transaction(() => {
    for (const step of migrations.slice(version)) db.exec(step);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${migrations.length}`);
  });
  return backup;
}

function versionOf(db: Database): number {
  return Number(db.pragma('user_version'));
}

function freeName(path: string): string {
  for (let n = 0; ; n++) {
    const candidate = n === 0 ? path : `${path}-${n}`;
    if (!existsSync(candidate)) return candidate;
  }
}
