import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { ChunkHeader } from '../engine/engine.ts';
import type { Logger } from '../platform/logger.ts';
import { messageOf } from '../platform/failure.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import { codeOf, isMissing } from './errors.ts';
import { PRECOMPUTE, type LastUse } from './eviction/workload.ts';
import { kindOf } from './hash.ts';
import type { Layout, StoreFs } from './files.ts';
import { OWN_FOLDER, type ChunkFolder, type ChunkFolders, type Wait } from './folders.ts';
import type { ChunkIndex, ChunkRow } from './index-db.ts';
import type { SimilarChunks } from './similar.ts';
import type { PutMeta } from './types.ts';

/** Rows deleted per transaction. */
const REMOVED_AT_ONCE = 50;

interface DiskParts {
  folders: ChunkFolders;
  fs: StoreFs;
  index: ChunkIndex;
  similar: SimilarChunks;
  log: Logger;
  clock: () => number;
}

/**
 * Keeps files and rows consistent. Every change leaves a state that reconcile can repair if the process dies in the
 * middle: a file gets its row last and loses it last.
 *
 * REQUIRES: calls that change something run one after another (the store's queue).
 */
export class ChunkDisk {
  readonly folders: ChunkFolders;
  readonly index: ChunkIndex;
  readonly similar: SimilarChunks;
  readonly log: Logger;
  readonly clock: () => number;
  /** Files of a newer chunk format: path → bytes. */
  readonly newerFormat = new Map<string, number>();
  readonly #fs: StoreFs;
  /** Keys whose file is being deleted: to other callers they no longer exist. */
  readonly #departing = new Set<string>();

  constructor(parts: DiskParts) {
    this.folders = parts.folders;
    this.index = parts.index;
    this.similar = parts.similar;
    this.log = parts.log;
    this.clock = parts.clock;
    this.#fs = parts.fs;
  }

  /** Of the store's own folder. */
  get layout(): Layout {
    return this.folders.own.layout;
  }

  /** The row of a chunk that can be served: its folder is connected. */
  row(key: string): ChunkRow | undefined {
    const row = this.listed(key);
    return row && this.isAway(row) ? undefined : row;
  }

  /** Also that of a chunk whose folder is not connected. */
  listed(key: string): ChunkRow | undefined {
    return this.#departing.has(key) ? undefined : this.index.get(key);
  }

  isAway({ folder }: Pick<ChunkRow, 'folder'>): boolean {
    return folder !== OWN_FOLDER && this.folders.get(folder)?.isReady !== true;
  }

  path(row: Pick<ChunkRow, 'key' | 'folder' | 'formatVersion'>): string {
    const { layout } = this.folders.get(row.folder) ?? this.folders.own;
    return layout.chunkFile(row.key, row.formatVersion);
  }

  /** As ChunkFolder.within(), for the folder of a row. */
  within<T>({ folder }: Pick<ChunkRow, 'folder'>, work: Promise<T>, wait?: Wait<T>): Promise<T> {
    return this.folders.get(folder)?.within(work, wait) ?? work;
  }

  /** A path for reports: relative to the store's folder if it is there. */
  shown(path: string): string {
    return this.layout.holds(path) ? this.layout.relative(path) : path;
  }

  /** Its drive is gone: until it is back, its chunks are listed but not served. */
  disconnect(folder: ChunkFolder): void {
    folder.close();
    for (const path of this.newerFormat.keys()) if (folder.layout.holds(path)) this.newerFormat.delete(path);
    this.log.warn('A cache folder is no longer connected.', { folder: folder.layout.dir });
  }

  /** Whether the folder of a row is still connected; to be asked before a missing file is believed to be gone. */
  async isStillThere({ folder: id }: Pick<ChunkRow, 'folder'>): Promise<boolean> {
    const folder = this.folders.get(id);
    if (!folder?.isReady) return false;
    if (await folder.isThere()) return true;
    this.disconnect(folder);
    return false;
  }

  /**
   * Moves a written and fsynced temporary file into place, then inserts its row. It takes the place of a row whose folder
   * is not connected; the file there is a duplicate from now on.
   */
  async commit(temp: string, row: ChunkRow): Promise<void> {
    await this.#install(temp, row, () => {
      const away = this.index.get(row.key);
      if (away) this.index.remove([row.key]);
      this.index.insert(away ? { ...row, pinned: away.pinned || row.pinned, hits: away.hits } : row);
    });
  }

  /** Moves a chunk's file, of which `temp` is a copy in the other folder, to that folder. */
  async relocate(temp: string, row: ChunkRow, folder: ChunkFolder): Promise<void> {
    await this.#install(temp, { ...row, folder: folder.id }, () => this.index.setFolder(row, folder.id));
    await this.#unlink(this.path(row)); // if that fails, the file is deleted as a duplicate at the next start
  }

  async #install(temp: string, row: ChunkRow, record: () => void): Promise<void> {
    const path = this.path(row);
    const dir = dirname(path);
    const isNew = await this.#fs.makeDir(dir);
    await this.#place(temp, path);
    try {
      await this.#fs.syncDir(dir);
      if (isNew) await this.#fs.syncDir(dirname(dir));
      record();
    } catch (error) {
      await this.#fs.unlink(path).catch(() => undefined);
      throw error;
    }
  }

  /** Moves unknown items out of the way: a folder at this path would block the file forever. */
  async #place(temp: string, path: string): Promise<void> {
    try {
      await this.#fs.rename(temp, path);
    } catch (error) {
      if (!/^(EISDIR|ENOTEMPTY|EEXIST)$/.test(codeOf(error))) throw error;
      await this.quarantine(path);
      await this.#fs.rename(temp, path);
    }
  }

  async removeTemp(temp: string): Promise<void> {
    if (!this.folders.holding(temp).isReady) return; // deleted when it is
    await this.#fs.unlink(temp).catch((error: unknown) => {
      if (!isMissing(error))
        this.log.warn('A temporary file could not be removed.', { error: messageOf(error) });
    });
  }

  /**
   * Deletes files and then their rows; returns the deleted rows. Files first: on a full disk the index cannot be
   * written until there is space. A file that cannot be deleted keeps its row; one whose folder is not connected is
   * deleted when it is. Works in batches to keep transactions short: a kill leaves rows without files, which the next
   * start drops.
   */
  async remove(rows: readonly ChunkRow[]): Promise<ChunkRow[]> {
    const gone: ChunkRow[] = [];
    const slice = new TimeSlice();
    for (const row of rows) this.#departing.add(row.key);
    try {
      for (let start = 0; start < rows.length; start += REMOVED_AT_ONCE) {
        if (start > 0) await this.index.rest();
        const batch: ChunkRow[] = [];
        const away: ChunkRow[] = [];
        for (const row of rows.slice(start, start + REMOVED_AT_ONCE)) {
          if (this.isAway(row)) away.push(row);
          else if (await this.#unlink(this.path(row))) (this.isAway(row) ? away : batch).push(row);
        }
        this.index.remove(batch.map((row) => row.key));
        this.index.removeAway(away);
        this.similar.sweep(batch.length + away.length);
        gone.push(...batch, ...away);
        await slice.step();
      }
    } finally {
      for (const row of rows) this.#departing.delete(row.key);
    }
    return gone;
  }

  /** Quarantines a bad file. A missing row is not an error. */
  async discard(key: string, reason: string): Promise<void> {
    const row = this.row(key);
    if (row) await this.discardRow(row, reason);
  }

  async discardRow(row: ChunkRow, reason: string): Promise<void> {
    const { key } = row;
    this.log.warn('A chunk file is corrupt and was quarantined.', { key, reason });
    this.#departing.add(key);
    try {
      await this.quarantine(this.path(row));
      this.index.remove([key]);
    } finally {
      this.#departing.delete(key);
    }
  }

  /** Moves a file to the quarantine of its folder. A missing file is not an error. */
  quarantine(path: string): Promise<void> {
    const folder = this.folders.holding(path);
    return folder.within(folder.quarantine.take(path, this.clock()), { isLong: true });
  }

  /** Drops a row whose file is missing. */
  dropRow(key: string): void {
    this.log.warn('A chunk file is missing; its entry was dropped.', { key });
    this.index.remove([key]);
  }

  /** Drops the row of a file that this version cannot read. The newer version adopts the file again. */
  async setNewerAside(row: ChunkRow): Promise<void> {
    await this.noteNewer(this.path(row));
    this.index.remove([row.key]);
  }

  async noteNewer(path: string): Promise<void> {
    this.log.warn('A chunk file was written by a newer version of Kvasir; it is left alone.', {
      file: this.shown(path),
    });
    this.newerFormat.set(path, (await this.folders.holding(path).within(stat(path))).size);
  }

  async #unlink(path: string): Promise<boolean> {
    try {
      await this.#fs.unlink(path);
    } catch (error) {
      if (isMissing(error)) {
        await this.isStillThere({ folder: this.folders.holding(path).id });
        return true;
      }
      this.log.warn('A chunk file could not be deleted.', {
        file: basename(path),
        error: messageOf(error),
      });
      return false;
    }
    return true;
  }
}

/** A file's row, from its header and `meta`. TypeError if the key does not match the header. */
export function rowOf(
  key: string,
  header: ChunkHeader,
  bytes: number,
  made: {
    now: number;
    order: number;
    last?: LastUse | undefined;
    meta?: PutMeta | undefined;
    folder?: string;
  },
): ChunkRow {
  const { now, order, meta = {}, folder = OWN_FOLDER, last = { class: PRECOMPUTE, lastUsedAt: now } } = made;
  const kind = kindOf(header, key);
  if (!kind) throw new TypeError('ChunkStore.put: key does not match the chunk.');
  return {
    key,
    folder,
    kind,
    fingerprint: header.fingerprint,
    prefixHash: header.prefixHash,
    dtype: header.dtype,
    layers: header.layers,
    tokens: header.tokens.length,
    bytes,
    formatVersion: header.version,
    label: meta.label ?? '',
    pinned: meta.pinned ? 1 : 0,
    hits: 0,
    createdAt: now,
    lastUsedAt: last.lastUsedAt,
    class: last.class,
    order,
    offset: 0,
  };
}
