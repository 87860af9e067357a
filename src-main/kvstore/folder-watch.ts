import { setTimeout as wait } from 'node:timers/promises';
import type { FolderState } from '../../src-shared/contract/cache.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { messageOf } from '../platform/failure.ts';
import { SerialQueue } from '../platform/serial-queue.ts';
import type { ChunkDisk } from './disk.ts';
import { enterMissing } from './find-similar.ts';
import type { StoreFs } from './files.ts';
import type { ChunkFolder } from './folders.ts';
import { reconcile } from './reconcile.ts';
import type { ChunkFiles } from './types.ts';

interface FolderWatchOptions {
  disk: ChunkDisk;
  files: ChunkFiles;
  fs: StoreFs;
  /** Serialises everything that changes files or rows. */
  changes: SerialQueue;
  /** Interval of the checks in milliseconds. Default 10 s. */
  pollMs?: number | undefined;
}

const POLL_MS = 10_000;
/** A sleeping disk needs longer to spin up; its chunks are served from then on. */
const OPENING_MS = 2000;

/** Finds out whether added folders are connected, and makes their files and rows consistent when they become so. */
export class FolderWatch {
  /** Called when a folder became ready, or ceased to be. */
  onChange: () => void = () => undefined;
  readonly #options: FolderWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  readonly #checks = new SerialQueue();
  /** The states that were reported. */
  readonly #told = new Map<string, FolderState>();
  #waiting = 0;
  #closed = false;

  constructor(options: FolderWatchOptions) {
    this.#options = options;
  }

  /** Checks the added folders now and from time to time. Resolves after the first check, at the latest in two seconds. */
  async start(): Promise<void> {
    if (this.#options.disk.folders.added.length === 0) return;
    this.#timer ??= setInterval(() => {
      if (this.#waiting === 0) void this.check(); // a drive that hangs answers no sooner
    }, this.#options.pollMs ?? POLL_MS).unref();
    await Promise.race([this.check(), wait(OPENING_MS, undefined, { ref: false })]);
  }

  /** Checks every added folder. Never rejects. */
  check(): Promise<void> {
    this.#waiting++;
    return this.#checks.run(() => this.#check()).finally(() => this.#waiting--);
  }

  /** Waits for checks that were asked for, with what they list of a folder. */
  settled(): Promise<void> {
    return this.#checks.run(() => Promise.resolve());
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    await this.settled();
    for (const folder of this.#options.disk.folders.added) folder.close();
  }

  async #check(): Promise<void> {
    const { disk } = this.#options;
    for (const folder of disk.folders.added) {
      if (this.#closed) return;
      if (!folder.isReady) await this.#connect(folder);
      else if (!(await folder.isThere())) disk.disconnect(folder);
      if (this.#told.get(folder.id) !== folder.state) this.onChange();
      this.#told.set(folder.id, folder.state);
    }
  }

  async #connect(folder: ChunkFolder): Promise<void> {
    const { disk, files, fs, changes } = this.#options;
    if (!(await folder.open())) return;
    try {
      const onTrusted = (): void => void (folder.state = 'ready');
      const run = async <T>(task: () => Promise<T>): Promise<T> => {
        if (this.#closed) throw new KvasirError('ABORTED', 'The cache was closed.');
        return changes.run(task);
      };
      const findings = await reconcile(disk, files, fs, { folder, run, onTrusted });
      await enterMissing(disk, files, () => this.#closed);
      disk.log.info('A cache folder is connected.', { folder: folder.layout.dir, ...findings });
    } catch (error) {
      folder.fail(error);
      disk.log.warn('A cache folder cannot be used.', { folder: folder.layout.dir, error: messageOf(error) });
    }
  }
}
