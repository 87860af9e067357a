import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Failure } from '../../src-shared/contract/common.ts';
import { toStoreError } from '../kvstore/errors.ts';
import { StoreLock } from '../kvstore/lock.ts';
import { messageOf } from '../platform/failure.ts';
import { ensureWritableDir } from '../platform/paths.ts';
import { DATABASE_FILES, MANIFEST_NAME, ManifestSchema, PLAIN_FILES, UPLOADS } from './manifest.ts';

/** A backup on its way out of its file. */
export const UNPACKING_FOLDER = 'restore-unpacking';
/** A backup that is unpacked and checked, to take the data's place at the next start. */
export const READY_FOLDER = 'restore-ready';
/** The same while it does. What it replaces goes into `old` in it. */
export const APPLYING_FOLDER = 'restore-applying';

const WaitingSchema = ManifestSchema.extend({
  /** Whether what it replaces stays in a folder beside the data: there is no backup of it. */
  keepsReplaced: z.boolean().default(false),
});

/** The manifest of a backup that waits. */
export type Waiting = z.infer<typeof WaitingSchema>;

/** What came of it. */
type Restored = { restored: boolean; failure?: Failure };

/**
 * Puts a backup that waits to be restored in the place of the data. To be called before anything of the data folder is
 * open. STORE_IN_USE when another process has it open.
 *
 * A crash in between leaves more to do for the next start: each file that the manifest names is in the folder of the restore (then
 * it is still to be moved) or has arrived. What is not one of the two, or cannot be read, replaces nothing and is kept.
 */
export function applyRestore(data: string, store: string, nowMs = Date.now()): Restored {
  const [ready, applying] = [READY_FOLDER, APPLYING_FOLDER].map((name) => join(data, name)) as [
    string,
    string,
  ];
  if (![ready, applying].some((folder) => existsSync(join(folder, MANIFEST_NAME))))
    return { restored: false };
  const lock = takeLock(store);
  try {
    const begun = existsSync(join(applying, MANIFEST_NAME));
    const folder = begun ? applying : ready;
    let manifest: Waiting;
    try {
      manifest = readManifest(folder);
      if (!begun) requireFiles(folder, manifest);
    } catch (error) {
      return { restored: false, failure: setAside(folder, nowMs, error) };
    }
    if (!begun) {
      rmSync(applying, { recursive: true, force: true }); // without a manifest: what is left of an earlier one
      renameSync(ready, applying);
    }
    for (const name of [...DATABASE_FILES, ...PLAIN_FILES, UPLOADS])
      replace(data, applying, name, has(manifest, name));
    const old = join(applying, 'old');
    if (manifest.keepsReplaced && existsSync(old)) renameSync(old, freeName(join(data, 'replaced'), nowMs));
    rmSync(join(applying, MANIFEST_NAME)); // from here on there is nothing to restore
    rmSync(applying, { recursive: true, force: true });
    return { restored: true };
  } finally {
    lock.release();
  }
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

function readManifest(folder: string): Waiting {
  return WaitingSchema.parse(JSON.parse(readFileSync(join(folder, MANIFEST_NAME), 'utf8')));
}

function requireFiles(folder: string, { files }: Waiting): void {
  const missing = files.find(({ name }) => !existsSync(join(folder, name)));
  if (missing) throw new Error(`${missing.name} is missing`);
  if (files.length === 0) throw new Error('it is empty');
}

/** Whether a backup has a file, or anything in a folder. */
function has({ files }: Waiting, name: string): boolean {
  return files.some((file) => file.name === name || file.name.startsWith(`${name}/`));
}

/** What is in the backup takes the place of what is there; what is not in the backup goes. A database's log goes first. */
function replace(data: string, applying: string, name: string, inBackup: boolean): void {
  const [from, to] = [join(applying, name), join(data, name)];
  if (inBackup && !existsSync(from)) return; // arrived before a crash
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
    message: `The backup that was to be restored cannot be used, and nothing was replaced (${messageOf(error)}). Its files are in ${kept}.`,
    advice: 'Restore it again from its file.',
  };
}

function freeName(path: string, nowMs: number): string {
  const stamped = `${path}-${new Date(nowMs).toISOString().replace(/[-:.]/g, '')}`;
  for (let n = 0; ; n++) {
    const candidate = n === 0 ? stamped : `${stamped}-${n}`;
    if (!existsSync(candidate)) return candidate;
  }
}
