import { copyFile, open } from 'node:fs/promises';
import type { FolderRemoval } from '../../src-shared/contract/cache.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { messageOf } from '../platform/failure.ts';
import type { SerialQueue } from '../platform/serial-queue.ts';
import { DiskBudget } from './budget.ts';
import type { ChunkDisk } from './disk.ts';
import type { StoreFs } from './files.ts';
import { OWN_FOLDER, type ChunkFolder } from './folders.ts';
import type { ChunkRow } from './index-db.ts';
import { requireSpace, spareBytes } from './reserve.ts';
import type { AddedFolder, EntryKind, EvictReport, FolderStats, RankedFolder } from './types.ts';

interface FolderTiersOptions {
  disk: ChunkDisk;
  fs: StoreFs;
  /** Serialises everything that changes files or rows. */
  changes: SerialQueue;
  /** Of the store's own folder. */
  budgetBytes: number;
  /** Size limit of prefix blocks, as a share of that. */
  prefixShare: number;
  added: readonly AddedFolder[];
  policy: (kind: EntryKind) => { worth(row: ChunkRow, now: number): number };
  /** Whether an entry must stay for now. */
  isInUse: (key: string) => boolean;
  /** Called before an entry's file is deleted or demoted. */
  onLeaving: (key: string) => void;
}

/** A folder that is ready, as new chunks are offered to it. */
interface Rank {
  folder: ChunkFolder;
  budget: DiskBudget;
  addsDelay: boolean;
}

/** A move costs a read and a write, so a chunk is promoted only if it is worth this many times those that it displaces. */
const PROMOTION_GAIN = 2;
/** Milliseconds: a question that has just read a chunk needs the disks more than its promotion does. */
const PROMOTION_DELAY_MS = 1000;

/**
 * Decides in which folder a chunk is, and keeps each folder within its budget. New chunks go where the controller ranks
 * them; what a folder evicts moves to another one with room for it; a use from a folder that adds delay moves a chunk
 * up. Nothing is moved for an equal. Prefixes stay in the store's own folder.
 */
export class FolderTiers {
  readonly own: DiskBudget;
  readonly moved = { demoted: 0, promoted: 0, bytes: 0 };
  readonly #options: FolderTiersOptions;
  readonly #added = new Map<string, DiskBudget>();
  #rank: (() => readonly RankedFolder[]) | undefined;
  #waiting = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: FolderTiersOptions) {
    this.#options = options;
    this.own = this.#budget(OWN_FOLDER, options.budgetBytes, options.prefixShare);
    for (const { id, budgetBytes } of options.added) this.#added.set(id, this.#budget(id, budgetBytes, 0));
  }

  get evictions(): number {
    return [this.own, ...this.#added.values()].reduce((sum, { evictions }) => sum + evictions, 0);
  }

  /** Of all folders that are ready. */
  get budgetBytes(): number {
    return this.#options.disk.folders.ready.reduce((sum, { id }) => sum + this.#budgetOf(id).bytes, 0);
  }

  stats(): FolderStats[] {
    const { index, folders } = this.#options.disk;
    return [folders.own, ...folders.added].map(({ id, state, problem }) => ({
      ...{ id, state, problem },
      entries: index.entriesIn(id),
      bytes: index.bytesIn(id),
      budgetBytes: this.#budgetOf(id).bytes,
    }));
  }

  /** How the controller ranks the folders; those that it leaves out come last. Default: the store's own first. */
  rankBy(rank: () => readonly RankedFolder[]): void {
    this.#rank = rank;
  }

  /** Whether a chunk fits into a folder, after evicting chunks of a lower worth. */
  hasRoom(bytes: number, worth: number): boolean {
    return this.#ranked().some(({ budget }) => budget.hasRoom({ kind: 'chunk', bytes, worth }));
  }

  /**
   * The folder for a new entry: the first with free room that adds no delay; else the first where it displaces others.
   * `bytes` is undefined for what is not a chunk, or of unknown size.
   */
  choose(bytes: number | undefined, worth: number | undefined): ChunkFolder {
    const { own } = this.#options.disk.folders;
    if (bytes === undefined || this.#added.size === 0) return own;
    const chunk = { kind: 'chunk', bytes, worth } as const;
    const ranked = this.#ranked();
    const chosen =
      ranked.find(({ addsDelay, budget }) => !addsDelay && budget.isFree(chunk)) ??
      ranked.find(({ budget }) => budget.hasRoom(chunk));
    return chosen?.folder ?? own;
  }

  /** As DiskBudget.makeRoom(), in the folder of the row. */
  makeRoom(row: ChunkRow, worth: number | undefined): Promise<void> {
    return this.#budgetOf(row.folder).makeRoom({ ...row, worth });
  }

  async shed(): Promise<EvictReport> {
    const report: EvictReport = { entries: 0, bytes: 0, kept: 0 };
    for (const { id } of this.#options.disk.folders.ready.toReversed()) {
      const { entries, bytes, kept } = await this.#budgetOf(id).shed();
      report.entries += entries;
      report.bytes += bytes;
      report.kept += kept;
    }
    return report;
  }

  /** Adds a folder, or changes its budget. */
  set({ id, budgetBytes }: Pick<AddedFolder, 'id' | 'budgetBytes'>): void {
    const known = this.#added.get(id);
    if (known) known.bytes = budgetBytes;
    else this.#added.set(id, this.#budget(id, budgetBytes, 0));
  }

  /**
   * Empties a folder: moves its chunks where there is free room, and deletes the others. It stays empty. Pinned chunks
   * move first, and displace others. If some of them fit nowhere, they are deleted only with `deletePinned`: without it
   * they are counted as kept, and nothing is moved.
   */
  async empty(id: string, deletePinned: boolean): Promise<FolderRemoval> {
    const { disk, changes } = this.#options;
    const count = { moved: 0, deleted: 0, kept: { chunks: 0, bytes: 0 } };
    if (!deletePinned) count.kept = await changes.run(() => this.#immovable(id));
    if (count.kept.chunks > 0) return count;
    const { bytes: budgetBytes } = this.#budgetOf(id);
    this.set({ id, budgetBytes: 0 });
    for (const { key } of disk.index.list({ pinned: true }).filter(({ folder }) => folder === id))
      await changes.run(async () => {
        const row = disk.listed(key);
        if (row?.folder !== id) return;
        if (await this.#moveOut(row)) count.moved++;
        else if (!deletePinned) add(count.kept, row);
      });
    if (count.kept.chunks > 0) {
      this.set({ id, budgetBytes }); // a disk failed
      return count;
    }
    for await (const { key, folder } of disk.index.all()) {
      if (folder !== id) continue;
      await changes.run(async () => {
        const row = disk.row(key);
        if (row?.folder !== id) return;
        if (await this.#moveOut(row)) count.moved++;
        else {
          this.#options.onLeaving(key);
          count.deleted += (await disk.remove([row])).length;
        }
      });
    }
    return count;
  }

  /** The pinned chunks of a folder that fit in no other one, even if they displace everything there that is not pinned. */
  async #immovable(id: string): Promise<FolderRemoval['kept']> {
    const { disk, fs } = this.#options;
    const pinned = disk.index.list({ pinned: true });
    const targets = disk.isAway({ folder: id })
      ? []
      : this.#ranked().filter(({ folder }) => folder.id !== id);
    const rooms = await Promise.all(
      targets.map(async ({ folder, budget: { bytes } }) => {
        const spare = await spareBytes(fs, folder.layout.dir).catch(() => 0);
        if (spare < bytes - disk.index.bytesIn(folder.id)) return { bytes: spare }; // before anything is displaced
        const there = pinned.filter((row) => row.folder === folder.id);
        return { bytes: there.reduce((room, row) => room - row.bytes, bytes) };
      }),
    );
    const kept = { chunks: 0, bytes: 0 };
    for (const row of pinned.filter(({ folder }) => folder === id)) {
      const room = rooms.find(({ bytes }) => bytes >= row.bytes);
      if (room) room.bytes -= row.bytes;
      else add(kept, row);
    }
    return kept;
  }

  /** Moves a chunk to another folder: an unpinned one only where there is free room. */
  async #moveOut(row: ChunkRow): Promise<boolean> {
    if (this.#options.disk.isAway(row)) return false;
    const chunk = { kind: 'chunk', bytes: row.bytes } as const;
    const target = this.#ranked().find(
      ({ folder, budget }) =>
        folder.id !== row.folder && (row.pinned ? budget.hasRoom(chunk) : budget.isFree(chunk)),
    );
    if (!target) return false;
    await target.budget.makeRoom(chunk);
    return this.#tryMove(row, target.folder);
  }

  delete(id: string): void {
    this.#added.delete(id);
  }

  /** A chunk was read from its file: if its folder adds delay, it moves up soon. */
  used(key: string, folder: string): void {
    if (folder === OWN_FOLDER && this.#added.size === 0) return;
    if (!this.#ranked().some(({ folder: { id }, addsDelay }) => id === folder && addsDelay)) return;
    this.#waiting.add(key);
    this.#promoteLater();
  }

  /** Promotes what is waiting and not in use. Never rejects. */
  async idle(): Promise<void> {
    const { changes, isInUse, disk } = this.#options;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const key of this.#waiting) {
      if (isInUse(key)) continue;
      this.#waiting.delete(key);
      await changes
        .run(() => this.#promote(key))
        .catch((error: unknown) =>
          disk.log.warn('A chunk could not be promoted.', { key, error: messageOf(error) }),
        );
    }
    if (this.#waiting.size > 0) this.#promoteLater();
  }

  #promoteLater(): void {
    this.#timer ??= setTimeout(() => void this.idle(), PROMOTION_DELAY_MS).unref();
  }

  close(): void {
    this.#waiting.clear();
    clearTimeout(this.#timer);
  }

  async #promote(key: string): Promise<void> {
    const { disk, isInUse } = this.#options;
    disk.index.flush(); // its use counts
    const row = disk.row(key);
    if (row?.kind !== 'chunk' || isInUse(key)) return;
    const ranked = this.#ranked();
    const at = ranked.findIndex(({ folder }) => folder.id === row.folder);
    if (ranked[at]?.addsDelay !== true) return;
    const worth = this.#worth(row) / PROMOTION_GAIN;
    if (worth <= 0) return; // the model in use cannot be served it
    const target = ranked
      .slice(0, at)
      .find(({ budget }) => budget.hasRoom({ kind: 'chunk', bytes: row.bytes, worth }));
    if (!target || !(await this.#tryMove(row, target.folder))) return;
    this.moved.promoted++;
    await target.budget.shed(); // afterwards, because what it displaces may take the place that it left
  }

  async #demote(row: ChunkRow): Promise<boolean> {
    const { id } = this.#options.disk.folders.get(row.folder) ?? {};
    const chunk = { kind: 'chunk', bytes: row.bytes, worth: this.#worth(row) } as const;
    for (const { folder, budget } of this.#ranked()) {
      if (folder.id === id || !budget.hasRoom(chunk)) continue;
      await budget.makeRoom({ ...chunk, deletes: true });
      this.#options.onLeaving(row.key);
      if (!(await this.#tryMove(row, folder))) return false;
      this.moved.demoted++;
      return true;
    }
    return false;
  }

  /** False if it failed: the folder it was to go to is full, or gone. */
  async #tryMove(row: ChunkRow, to: ChunkFolder): Promise<boolean> {
    const { disk, fs } = this.#options;
    const temp = to.layout.tempFile(row.key);
    try {
      await requireSpace(fs, to.layout.dir);
      const copied = copyFile(disk.path(row), temp).then(() => flushed(temp, row.bytes));
      const limit = { isLong: true, bytes: row.bytes };
      await to.within(disk.folders.get(row.folder)?.within(copied, limit) ?? copied, limit);
      await disk.relocate(temp, row, to);
      this.moved.bytes += row.bytes;
      return true;
    } catch (error) {
      disk.log.warn('A chunk could not be moved.', {
        ...{ key: row.key, to: to.layout.dir },
        error: messageOf(error),
      });
      await disk.removeTemp(temp);
      return false;
    }
  }

  #worth(row: ChunkRow): number {
    return this.#options.policy(row.kind).worth(row, this.#options.disk.clock());
  }

  #ranked(): Rank[] {
    const { ready } = this.#options.disk.folders;
    if (ready.length === 1)
      return [{ folder: this.#options.disk.folders.own, budget: this.own, addsDelay: false }];
    const order = this.#rank?.() ?? [];
    const place = (id: string): number => {
      const at = order.findIndex((ranked) => ranked.id === id);
      return at < 0 ? order.length : at;
    };
    return ready
      .map((folder) => ({
        folder,
        budget: this.#budgetOf(folder.id),
        addsDelay: order.find(({ id }) => id === folder.id)?.addsDelay ?? folder.id !== OWN_FOLDER,
      }))
      .sort((a, b) => place(a.folder.id) - place(b.folder.id));
  }

  #budgetOf(id: string): DiskBudget {
    return this.#added.get(id) ?? this.own;
  }

  #budget(folder: string, bytes: number, prefixShare: number): DiskBudget {
    const { disk, policy, isInUse, onLeaving } = this.#options;
    return new DiskBudget(disk, {
      ...{ folder, bytes, prefixShare, policy, isInUse, onLeaving },
      demote: (row) => this.#demote(row),
    });
  }
}

function add(count: { chunks: number; bytes: number }, { bytes }: ChunkRow): void {
  count.chunks++;
  count.bytes += bytes;
}

/** Makes a copy durable. CHUNK_CORRUPT if it does not have this many bytes. */
async function flushed(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
    if ((await file.stat()).size !== bytes)
      throw new KvasirError('CHUNK_CORRUPT', 'its file has another size');
  } finally {
    await file.close();
  }
}
