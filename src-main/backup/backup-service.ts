import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Backup } from '../../src-shared/contract/app.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { discard } from '../platform/discard.ts';
import { throttled, type EventBus } from '../platform/event-bus.ts';
import { traceOf } from '../platform/failure.ts';
import type { Logger } from '../platform/logger.ts';
import { fileError } from '../platform/paths.ts';
import { SerialQueue } from '../platform/serial-queue.ts';
import { READY_FOLDER, UNPACKING_FOLDER, type PendingManifest } from './apply-restore.ts';
import { MANIFEST_NAME, type Schemas } from './manifest.ts';
import { readBackup } from './read-backup.ts';
import { writeBackup } from './write-backup.ts';

interface BackupServiceOptions {
  data: string;
  /** Version of the program, for the manifest. */
  program: string;
  schemas: Schemas;
  log: Logger;
  events: Pick<EventBus, 'emit'>;
}

const PROGRESS_MS = 200;

/** Backups of documents, conversations and settings: one file each, in a folder next to the data. */
export class BackupService {
  readonly dir: string;
  readonly #options: BackupServiceOptions;
  /** Serialises backups and restores. */
  readonly #queue = new SerialQueue();

  constructor(options: BackupServiceOptions) {
    this.#options = options;
    this.dir = join(options.data, 'backups');
  }

  /**
   * Creates a backup and verifies that it can be restored; progress is sent as 'backups.progress'. DISK_FULL,
   * STORE_READ_ONLY, STORE_CORRUPT, BACKUP_INVALID.
   */
  create(): Promise<Backup> {
    return this.#queue.run(() => this.#write());
  }

  /** Whether the next start will replace the data with a restored backup. */
  get restoreWaiting(): boolean {
    return existsSync(join(this.#options.data, READY_FOLDER));
  }

  /** Newest first. */
  async list(): Promise<Backup[]> {
    if (!existsSync(this.dir)) return [];
    const names = (await readdir(this.dir)).filter((name) => /\.zip$/i.test(name));
    const backups = await Promise.all(names.map((name) => describe(join(this.dir, name))));
    return backups.sort((a, b) => b.createdMs - a.createdMs);
  }

  /**
   * Verifies a backup and prepares it to replace the data at the next start. The current data is backed up first; if it
   * is too damaged for that, its files are kept. BACKUP_INVALID, DISK_FULL, STORE_READ_ONLY.
   */
  restore(path: string): Promise<{ restartNeeded: boolean }> {
    return this.#queue.run(async () => {
      const { data, schemas, events, log } = this.#options;
      const unpacked = join(data, UNPACKING_FOLDER);
      const ready = join(data, READY_FOLDER);
      try {
        await rm(unpacked, { recursive: true, force: true });
        await mkdir(unpacked, { recursive: true });
        const manifest = await readBackup(path, { dir: unpacked, schemas });
        const waiting: PendingManifest = { ...manifest, keepsReplaced: !(await this.#presentIsBackedUp()) };
        await writeSynced(join(unpacked, MANIFEST_NAME), JSON.stringify(waiting));
        await rm(ready, { recursive: true, force: true }); // an earlier pending restore
        await rename(unpacked, ready);
      } catch (error) {
        await discard(unpacked);
        if (error instanceof KvasirError) throw error;
        throw fileError(error, 'The backup could not be unpacked');
      }
      log.info('restore-waits', { path });
      events.emit('backups.changed', {});
      return { restartNeeded: true };
    });
  }

  async #presentIsBackedUp(): Promise<boolean> {
    try {
      await this.#write();
      return true;
    } catch (error) {
      if (!(error instanceof KvasirError && ['STORE_CORRUPT', 'BACKUP_INVALID'].includes(error.code)))
        throw error;
      this.#options.log.error('not-backed-up', { error: traceOf(error) });
      return false;
    }
  }

  async #write(): Promise<Backup> {
    const { data, program, schemas, events } = this.#options;
    try {
      await mkdir(this.dir, { recursive: true });
    } catch (error) {
      throw fileError(error, `The backup folder ${this.dir} could not be created`);
    }
    const createdMs = Date.now();
    const path = this.#freeName(createdMs);
    const progress = { done: 0, total: 0 };
    const tell = throttled(PROGRESS_MS, () => events.emit('backups.progress', { ...progress }));
    const onProgress = (done: number, total: number): void => {
      Object.assign(progress, { done, total });
      tell();
    };
    try {
      await writeBackup(path, { data, program, createdMs, schemas, onProgress });
    } finally {
      tell.cancel();
      events.emit('backups.changed', {});
    }
    return describe(path);
  }

  #freeName(time: number): string {
    const stamp = new Date(time).toISOString().slice(0, 19).replaceAll(':', '-').replace('T', ' ');
    for (let n = 1; ; n++) {
      const path = join(this.dir, `Kvasir ${stamp}${n === 1 ? '' : ` (${n})`}.zip`);
      if (!existsSync(path)) return path;
    }
  }
}

async function describe(path: string): Promise<Backup> {
  const { size, mtimeMs } = await stat(path);
  return { path, bytes: size, createdMs: mtimeMs };
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'w');
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
