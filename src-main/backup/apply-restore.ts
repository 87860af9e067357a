import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { moveManagedRoots } from '../catalogue/managed-roots.ts';
import { StoreLock } from '../kvstore/lock.ts';
import { toStoreError } from '../kvstore/errors.ts';
import { ensureWritableDir } from '../platform/paths.ts';
import { MANIFEST_NAME, ManifestSchema, PLAIN_FILES, UPLOADS } from './manifest.ts';

/** A backup that is unpacked and checked, to take the data's place at the next start. */
export const READY_FOLDER = 'restore-ready';

/** Databases by their names in the data folder. */
export const DATABASES: readonly string[] = [
  'catalogue.sqlite',
  'conversations.sqlite',
  'analyses.sqlite',
  'models.sqlite',
];

/**
 * Puts a backup that waits to be restored in the place of the data. To be called before anything of the data folder is
 * open; says whether there was one. Each step can be taken again, so that a crash in between only means more to do at the
 * next start. STORE_IN_USE when another process has the data open.
 */
export function applyRestore(data: string, store: string): boolean {
  const ready = join(data, READY_FOLDER);
  const manifestPath = join(ready, MANIFEST_NAME);
  if (!existsSync(manifestPath)) return false;
  const manifest = ManifestSchema.parse(JSON.parse(readFileSync(manifestPath, 'utf8')));
  const lock = takeLock(store);
  try {
    const names = new Set(manifest.files.map(({ name }) => name));
    const catalogue = join(ready, 'catalogue.sqlite');
    // Uploaded documents lie in the data folder, which may be another one than the backup was made of. They are placed by their
    // own names, so that doing it again after a crash changes nothing.
    if (manifest.dataDir !== data && existsSync(catalogue))
      moveManagedRoots(catalogue, (path) => join(data, UPLOADS, path.split(/[\\/]/).at(-1) ?? ''));
    for (const name of [...DATABASES, ...PLAIN_FILES])
      replace(join(ready, name), join(data, name), names.has(name));
    replaceFolder(join(ready, UPLOADS), join(data, UPLOADS), join(ready, 'old'));
    rmSync(manifestPath); // from here on there is nothing to restore
  } finally {
    lock.release();
  }
  rmSync(ready, { recursive: true, force: true });
  return true;
}

/** The store's lock stands for the whole data folder: every process takes it first. */
function takeLock(store: string): StoreLock {
  ensureWritableDir(store);
  try {
    return StoreLock.take(join(store, 'lock.db'));
  } catch (error) {
    throw toStoreError(error, store);
  }
}

/** What is in the backup takes the place of what is there; what is not in the backup goes. */
function replace(from: string, to: string, inBackup: boolean): void {
  const arrived = existsSync(from);
  if (inBackup && !arrived) return; // moved by an attempt that was cut short
  for (const suffix of ['-wal', '-shm']) rmSync(`${to}${suffix}`, { force: true });
  if (arrived) renameSync(from, to);
  else rmSync(to, { force: true });
}

function replaceFolder(from: string, to: string, old: string): void {
  if (existsSync(to) && !existsSync(old)) renameSync(to, old);
  if (existsSync(from)) renameSync(from, to);
}
