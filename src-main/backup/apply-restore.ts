import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Failure } from '../../src-shared/contract/common.ts';
import { toStoreError } from '../kvstore/errors.ts';
import { StoreLock } from '../kvstore/lock.ts';
import { messageOf } from '../platform/failure.ts';
import { ensureWritableDir, fileError } from '../platform/paths.ts';
import { DATABASE_FILES, MANIFEST_NAME, ManifestSchema, PLAIN_FILES, UPLOADS } from './manifest.ts';

/** A backup that is being unpacked. */
export const UNPACKING_FOLDER = 'restore-unpacking';
/** An unpacked, verified backup that replaces the data at the next start. */
export const READY_FOLDER = 'restore-ready';
/** The backup while it replaces the data. Replaced files go into its `old` folder. */
export const APPLYING_FOLDER = 'restore-applying';

const PendingManifestSchema = ManifestSchema.extend({
  /** Whether to keep the replaced files in a folder next to the data, because there is no backup of them. */
  keepsReplaced: z.boolean().default(false),
});

export type PendingManifest = z.infer<typeof PendingManifestSchema>;

type RestoreResult = { restored: boolean; failure?: Failure };

/**
 * Replaces the data with a pending backup. Call it before anything in the data folder is open. STORE_IN_USE if another
 * process has it open, DISK_FULL, STORE_READ_ONLY.
 *
 * After a crash the next start continues: each file in the manifest is either still in the restore's folder (and has to
 * be moved) or already in place. If a file is in neither place or cannot be read, nothing is replaced and the backup is
 * kept.
 */
export function applyRestore(data: string, store: string, nowMs = Date.now()): RestoreResult {
  const [ready, applying] = [READY_FOLDER, APPLYING_FOLDER].map((name) => join(data, name)) as [
    string,
    string,
  ];
  if (![ready, applying].some((folder) => existsSync(join(folder, MANIFEST_NAME))))
    return { restored: false };
  const lock = takeLock(store);
  try {
    return applyPending(data, ready, applying, nowMs);
  } catch (error) {
    throw fileError(error, 'The restore of the backup has to wait for the next start');
  } finally {
    lock.release();
  }
}

function applyPending(data: string, ready: string, applying: string, nowMs: number): RestoreResult {
  const begun = existsSync(join(applying, MANIFEST_NAME));
  const folder = begun ? applying : ready;
  let manifest: PendingManifest;
  try {
    manifest = readManifest(folder);
    if (!begun) requireFiles(folder, manifest);
  } catch (error) {
    return { restored: false, failure: setAside(folder, nowMs, error) };
  }
  if (!begun) {
    rmSync(applying, { recursive: true, force: true }); // no manifest: the remains of an earlier restore
    renameSync(ready, applying);
  }
  for (const name of [...DATABASE_FILES, ...PLAIN_FILES, UPLOADS])
    replace(data, applying, name, has(manifest, name));
  const old = join(applying, 'old');
  if (manifest.keepsReplaced && existsSync(old)) renameSync(old, freeName(join(data, 'replaced'), nowMs));
  rmSync(join(applying, MANIFEST_NAME)); // from here on there is nothing left to restore
  try {
    rmSync(applying, { recursive: true, force: true });
  } catch {
    // The next start removes it (leftovers.ts).
  }
  return { restored: true };
}

/** The store's lock protects the whole data folder: every process takes it first. */
function takeLock(store: string): StoreLock {
  ensureWritableDir(store);
  try {
    return StoreLock.take(join(store, 'lock.db'));
  } catch (error) {
    throw toStoreError(error, store);
  }
}

function readManifest(folder: string): PendingManifest {
  return PendingManifestSchema.parse(JSON.parse(readFileSync(join(folder, MANIFEST_NAME), 'utf8')));
}

function requireFiles(folder: string, { files }: PendingManifest): void {
  const missing = files.find(({ name }) => !existsSync(join(folder, name)));
  if (missing) throw new Error(`${missing.name} is missing`);
  if (files.length === 0) throw new Error('it is empty');
}

/** Whether a backup contains a file, or anything in a folder. */
function has({ files }: PendingManifest, name: string): boolean {
  return files.some((file) => file.name === name || file.name.startsWith(`${name}/`));
}

/**
 * Replaces an item with the one in the backup, or deletes it if the backup has none. A database's log is deleted first.
 */
function replace(data: string, applying: string, name: string, inBackup: boolean): void {
  const [from, to] = [join(applying, name), join(data, name)];
  if (inBackup && !existsSync(from)) return; // moved before a crash
  for (const suffix of ['-wal', '-shm', '']) {
    const kept = join(applying, 'old', name + suffix);
    if (!existsSync(to + suffix)) continue;
    mkdirSync(dirname(kept), { recursive: true });
    renameSync(to + suffix, kept);
  }
  if (inBackup) renameSync(from, to);
}

function setAside(folder: string, nowMs: number, error: unknown): Failure {
  const kept = freeName(`${folder}.damaged`, nowMs);
  renameSync(folder, kept);
  return {
    code: 'BACKUP_INVALID',
    message: `The pending backup cannot be restored, and nothing was replaced (${messageOf(error)}). Its files are in ${kept}.`,
    advice: 'Restore it again from the backup file.',
  };
}

function freeName(path: string, nowMs: number): string {
  const stamped = `${path}-${new Date(nowMs).toISOString().replace(/[-:.]/g, '')}`;
  for (let n = 0; ; n++) {
    const candidate = n === 0 ? stamped : `${stamped}-${n}`;
    if (!existsSync(candidate)) return candidate;
  }
}
