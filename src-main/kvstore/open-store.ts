import { unlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { databaseError } from '../platform/database.ts';
import { messageOf } from '../platform/failure.ts';
import { ChunkDisk } from './disk.ts';
import { codeOf, toStoreError } from './errors.ts';
import { Layout, nodeFs, type StoreFs } from './files.ts';
import { StoreLock } from './lock.ts';
import { openIndex } from './open-index.ts';
import { Quarantine, type QuarantineCap } from './quarantine.ts';
import { reconcile } from './reconcile.ts';
import { enterMissing } from './find-similar.ts';
import type { ChunkFiles, RecoveryReport } from './types.ts';
import type { Logger } from '../platform/logger.ts';

interface OpenStoreOptions {
  dir: string;
  files: ChunkFiles;
  clock: () => number;
  log: Logger;
  fs?: StoreFs | undefined;
  quarantineCap?: QuarantineCap | undefined;
}

export interface OpenedStore {
  disk: ChunkDisk;
  lock: StoreLock;
  found: Omit<RecoveryReport, 'evicted' | 'ms'>;
}

/** Opens folder, lock and index and reconciles them: returns a store that can serve. */
export async function openStore(options: OpenStoreOptions): Promise<OpenedStore> {
  const layout = new Layout(resolve(options.dir));
  const fs = options.fs ?? nodeFs;
  try {
    await makeFolders(layout, fs);
    const lock = StoreLock.take(layout.lock);
    try {
      return { lock, ...(await openLocked(layout, fs, options)) };
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
  layout: Layout,
  fs: StoreFs,
  options: OpenStoreOptions,
): Promise<Omit<OpenedStore, 'lock'>> {
  const { clock, log } = options;
  const onFlushFailed = (error: unknown): void =>
    log.warn('The last uses of chunks could not be written to the index.', { error: messageOf(error) });
  const { index, similar, setAside, backup } = openIndex(layout.index, { now: clock(), onFlushFailed });
  try {
    if (setAside)
      log.error('The index was unreadable; it is rebuilt from the chunk files.', { keptAt: setAside });
    if (backup) log.info('The index was migrated to this version.', { backup });
    const quarantine = new Quarantine(layout.quarantine, fs, options.quarantineCap);
    await quarantine.load();
    const disk = new ChunkDisk({ layout, fs, index, similar, quarantine, log, clock });
    const findings = await reconcile(disk, options.files, fs);
    enterMissing(disk, options.files);
    return { disk, found: { ...findings, indexSetAside: setAside, indexBackup: backup } };
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
