import type { FolderRemoval } from '../../src-shared/contract/cache.ts';
import type { SerialQueue } from '../platform/serial-queue.ts';
import type { DiskSpace } from '../platform/space.ts';
import { requireBudget } from './budget.ts';
import type { ChunkDisk } from './disk.ts';
import type { StoreFs } from './files.ts';
import type { FolderTiers } from './folder-tiers.ts';
import type { FolderWatch } from './folder-watch.ts';
import { OWN_FOLDER } from './folders.ts';
import { measureReads, type ReadTime } from './read-speed.ts';
import type { StoreCalls } from './store-calls.ts';
import type { AddedFolder, DetachedFolder, RankedFolder } from './types.ts';

interface StoreFoldersParts {
  disk: ChunkDisk;
  fs: StoreFs;
  tiers: FolderTiers;
  watch: FolderWatch;
  calls: StoreCalls;
  /** Serialises everything that changes files or rows. */
  changes: SerialQueue;
}

/** The folders of chunk files: the store's own, and those that were added. A part of ChunkStore's interface. */
export class StoreFolders {
  readonly #parts: StoreFoldersParts;

  constructor(parts: StoreFoldersParts) {
    this.#parts = parts;
  }

  /** Adds a folder of chunk files, or changes its budget. Resolves when it is ready, or found not to be. */
  set(folder: AddedFolder): Promise<void> {
    const { disk, tiers, watch, calls, changes } = this.#parts;
    return calls.run('folders.set', async () => {
      requireBudget('ChunkStore.folders.set: budgetBytes', folder.budgetBytes);
      if (!disk.folders.get(folder.id)) disk.folders.add(folder);
      tiers.set(folder);
      await watch.start();
      await changes.run(() => tiers.shed());
    });
  }

  /**
   * Removes a folder: its chunks move to others as far as these have free room, the rest is deleted. Of a folder that is
   * not connected the files stay. It is not removed if pinned chunks in it cannot be moved, unless these may be deleted.
   */
  remove(id: string, deletePinned = false): Promise<FolderRemoval> {
    const { disk, tiers, watch, calls, changes } = this.#parts;
    return calls.run('folders.remove', async () => {
      await watch.settled();
      const count = await tiers.empty(id, deletePinned);
      if (count.kept.chunks > 0) return count;
      await changes.run(async () => {
        disk.index.forgetFolder(id);
        tiers.delete(id);
        await disk.folders.delete(id);
      });
      return count;
    });
  }

  /** Stops using a folder: its files stay, and its pinned chunks stay listed. */
  detach(id: string): Promise<DetachedFolder> {
    const { disk, tiers, watch, calls, changes } = this.#parts;
    return calls.run('folders.detach', async () => {
      await watch.settled();
      return changes.run(() => {
        disk.folders.detach(id);
        tiers.delete(id);
        return Promise.resolve(disk.index.detachFolder(id));
      });
    });
  }

  /** How the controller ranks the folders for new chunks, cheapest of those that add no delay first. */
  rankBy(rank: () => readonly RankedFolder[]): void {
    this.#parts.calls.requireOpen('folders.rankBy');
    this.#parts.tiers.rankBy(rank);
  }

  /** Measures how fast an added folder's disk is read, with a file that it writes for this. Node's errors of the file system. */
  readSpeed(id: string): Promise<ReadTime[]> {
    return this.#parts.calls.run('folders.readSpeed', async () => {
      const folder = this.#parts.disk.folders.get(id);
      return folder?.isReady === true ? measureReads(folder.layout.tmp) : [];
    });
  }

  /** Looks which added folders are connected, as it does from time to time. */
  check(): Promise<void> {
    return this.#parts.calls.run('folders.check', () => this.#parts.watch.check());
  }

  /** Calls `listener` when a folder becomes ready, or ceases to be. */
  onChange(listener: () => void): void {
    this.#parts.calls.requireOpen('folders.onChange');
    this.#parts.watch.onChange = listener;
  }

  /** Of the disk that holds a folder, by default the store's own; undefined if the disk does not report it. */
  space(id = OWN_FOLDER): Promise<DiskSpace | undefined> {
    const { disk, fs, calls } = this.#parts;
    calls.requireOpen('folders.space');
    const { layout } = disk.folders.get(id) ?? disk.folders.own;
    return fs.space(layout.dir);
  }
}
