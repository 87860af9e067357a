import { unlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { databaseError } from '../platform/database.ts';
import { messageOf } from '../platform/failure.ts';
import { ChunkDisk } from './disk.ts';
import { codeOf, toStoreError } from './errors.ts';
import { nodeFs, type Layout, type StoreFs } from './files.ts';
import { patientFs } from './patient-fs.ts';
import { ChunkFolders } from './folders.ts';
import { StoreLock } from './lock.ts';
import { openIndex } from './open-index.ts';
import type { QuarantineCap } from './quarantine.ts';
import { reconcile } from './reconcile.ts';
import { enterMissing } from './find-similar.ts';
import type { AddedFolder, ChunkFiles, RecoveryReport } from './types.ts';
import type { Logger } from '../platform/logger.ts';

interface OpenStoreOptions {
  dir: string;
  folders?: readonly AddedFolder[] | undefined;
  files: ChunkFiles;
  clock: () => number;
  log: Logger;
  fs?: StoreFs | undefined;
  quarantineCap?: QuarantineCap | undefined;
  folderPatienceMs?: number | undefined;
}

export interface OpenedStore {
  /** Its calls wait for the drive of an added folder for a limited time. */
  fs: StoreFs;
  disk: ChunkDisk;
  lock: StoreLock;
  found: Omit<RecoveryReport, 'evicted' | 'ms'>;
}

/** Opens folder, lock and index and reconciles them: returns a store that can serve. */
export async function openStore(options: OpenStoreOptions): Promise<OpenedStore> {
  const bare = options.fs ?? nodeFs;
  const limits = { cap: options.quarantineCap, patienceMs: options.folderPatienceMs };
  const folders = new ChunkFolders(resolve(options.dir), bare, limits);
  const fs = patientFs(bare, folders);
  const { layout } = folders.own;
  for (const folder of options.folders ?? []) folders.add(folder);
  try {
    await makeFolders(layout, fs);
    const lock = StoreLock.take(layout.lock);
    try {
      return { lock, fs, ...(await openLocked(folders, fs, options)) };
    } catch (error) {
      lock.release();
      // No other Kvasir has it open: this process holds the lock.
      throw codeOf(error).startsWith('SQLITE_BUSY') ? databaseError(error, layout.index) : error;
    }
  } catch (error) {
    throw toStoreError(error, layout.dir);
  }
}

async function openLocked(
  folders: ChunkFolders,
  fs: StoreFs,
  options: OpenStoreOptions,
): Promise<Omit<OpenedStore, 'lock' | 'fs'>> {
  const { clock, log } = options;
  const onFlushFailed = (error: unknown): void =>
    log.warn('The last uses of chunks could not be written to the index.', { error: messageOf(error) });
  const { index, similar, setAside, backup } = await openIndex(folders.own.layout.index, {
    now: clock(),
    onFlushFailed,
  });
  try {
    if (setAside)
      log.error('The index was unreadable; it is rebuilt from the chunk files.', { keptAt: setAside });
    if (backup) log.info('The index was migrated to this version.', { backup });
    const unlisted = index
      .folders()
      .filter((id) => !folders.get(id))
      .map((id) => index.detachFolder(id))
      .filter(({ chunks }) => chunks > 0);
    await folders.own.quarantine.load();
    const disk = new ChunkDisk({ folders, fs, index, similar, log, clock });
    const findings = await reconcile(disk, options.files, fs);
    await enterMissing(disk, options.files);
    return { disk, found: { ...findings, unlisted, indexSetAside: setAside, indexBackup: backup } };
  } catch (error) {
    index.close();
    throw error;
  }
}

async function makeFolders(layout: Layout, fs: StoreFs): Promise<void> {
  for (const dir of [layout.dir, layout.chunks, layout.quarantine, layout.tmp]) await fs.makeDir(dir);
  // SQLite opens a read-only database without an error and fails at the first write, so check now.
  const probe = join(layout.tmp, `probe-${process.pid}`);
  await writeFile(probe, '');
  await unlink(probe);
}
