import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { FolderState } from '../../src-shared/contract/cache.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { messageOf } from '../platform/failure.ts';
import { codeOf } from './errors.ts';
import { Layout, type StoreFs } from './files.ts';
import { StoreLock } from './lock.ts';
import { Quarantine, type QuarantineCap } from './quarantine.ts';
import type { AddedFolder } from './types.ts';

/** Id of the store's own folder. */
export const OWN_FOLDER = '';

/** People's folders may contain a `chunks` or a `tmp` already, so Kvasir keeps to this folder within theirs. */
const SUBFOLDER = 'kvasir-cache';
const MARKER = 'folder.json';

/** A disk that sleeps spins up in less. */
const PATIENCE_MS = 12_000;
/** Times that for a long wait: a disk that is busy takes long to flush, or to list a folder. */
const LONG = 5;
/** Of the slowest drive that is not taken for one that hangs: 1 MB/s. */
const BYTES_PER_MS = 1000;
const LATE = Symbol('late');

export interface Wait<T> {
  /** Whether it may take five times as long as reading. */
  isLong?: boolean;
  /** Bytes that it reads or writes, for which it may take longer. */
  bytes?: number | undefined;
  /** Gets the result of work that ends later. */
  onLate?: ((result: T) => void) | undefined;
}

interface FolderLimits {
  cap?: QuarantineCap | undefined;
  /** How long a drive may take to respond, in milliseconds. */
  patienceMs?: number | undefined;
}

const MarkerSchema = z.object({
  kind: z.literal('kvasir-cache-folder'),
  version: z.literal(1),
  id: z.string().regex(/^[0-9a-f]{16}$/),
});

/**
 * A folder with chunk files: the store's own, or one that was added. An added folder is ready only while its marker is
 * there: the mount point of a drive that is not connected is often an empty folder.
 */
export class ChunkFolder {
  readonly id: string;
  readonly layout: Layout;
  readonly quarantine: Quarantine;
  state: FolderState;
  /** Why it failed; else ''. */
  problem = '';
  /** How long its drive may take to respond; undefined: the store's own has no limit. */
  readonly patienceMs: number | undefined;
  readonly #fs: StoreFs;
  #lock: StoreLock | undefined;
  /** The marker, while it is being read. */
  #marker: Promise<string | undefined> | undefined;
  /** Whether its drive did not respond when it was last used. */
  #hangs = false;

  constructor(id: string, dir: string, fs: StoreFs, { cap, patienceMs = PATIENCE_MS }: FolderLimits = {}) {
    this.id = id;
    this.layout = new Layout(dir);
    this.quarantine = new Quarantine(this.layout.quarantine, fs, cap);
    this.state = id === OWN_FOLDER ? 'ready' : 'not-connected';
    this.#fs = fs;
    this.patienceMs = id === OWN_FOLDER ? undefined : patienceMs;
  }

  /**
   * Waits for work on the drive. One that does not respond in time, such as a network drive whose server is gone, counts
   * as not connected until it does: CHUNK_UNREADABLE. The work continues.
   */
  async within<T>(work: Promise<T>, { isLong = false, bytes = 0, onLate }: Wait<T> = {}): Promise<T> {
    if (this.patienceMs === undefined) return work;
    const done = new AbortController();
    const limit = this.patienceMs * (isLong ? LONG : 1) + bytes / BYTES_PER_MS;
    try {
      const result = await Promise.race([work, wait(limit, LATE, { ref: false, signal: done.signal })]);
      this.#hangs = result === LATE;
      if (result !== LATE) return result;
    } finally {
      done.abort();
    }
    work.then(onLate, () => undefined);
    this.#cannot('not-connected');
    throw new KvasirError('CHUNK_UNREADABLE', `The drive of ${this.layout.dir} does not respond.`);
  }

  get isReady(): boolean {
    return this.state === 'ready';
  }

  /** Whether its drive is connected. */
  async isThere(): Promise<boolean> {
    if (this.id === OWN_FOLDER) return true;
    // A drive that hangs is asked once, until it responds.
    this.#marker ??= readMarker(this.layout.dir).finally(() => (this.#marker = undefined));
    return this.within(this.#marker).then(
      (id) => id === this.id,
      () => false,
    );
  }

  /** Locks an added folder for this process; false, with the reason in `state`, if it cannot be used now. */
  async open(): Promise<boolean> {
    try {
      if (!(await this.isThere())) return this.#cannot('not-connected');
      for (const dir of [this.layout.chunks, this.layout.quarantine, this.layout.tmp])
        await this.within(this.#fs.makeDir(dir));
      // The main thread waits for the lock, so the drive has to respond just before: network drives are asked for their space each time.
      await this.within(this.#fs.space(this.layout.dir));
      this.#release();
      this.#lock = StoreLock.take(this.layout.lock);
      await this.within(this.quarantine.load(), { isLong: true });
      this.problem = '';
      return true;
    } catch (error) {
      if (codeOf(error).startsWith('SQLITE_BUSY')) return this.#cannot('in-use');
      return this.#cannot('failed', messageOf(error));
    }
  }

  /** Releases an added folder. */
  close(): void {
    if (this.id !== OWN_FOLDER) this.#cannot('not-connected');
  }

  fail(error: unknown): void {
    this.#cannot('failed', messageOf(error));
  }

  #cannot(state: FolderState, problem = ''): false {
    this.state = this.#hangs ? 'not-responding' : state;
    this.problem = this.#hangs ? '' : problem;
    if (!this.#hangs) this.#release(); // else it would wait for the drive
    return false;
  }

  #release(): void {
    try {
      this.#lock?.release();
    } catch {
      // Its drive is gone, and the lock with it.
    }
    this.#lock = undefined;
  }
}

/** The folders of a store. */
export class ChunkFolders {
  readonly own: ChunkFolder;
  readonly #fs: StoreFs;
  readonly #limits: FolderLimits;
  readonly #added = new Map<string, ChunkFolder>();

  constructor(dir: string, fs: StoreFs, limits: FolderLimits = {}) {
    this.#fs = fs;
    this.#limits = limits;
    this.own = new ChunkFolder(OWN_FOLDER, dir, fs, limits);
  }

  get added(): ChunkFolder[] {
    return [...this.#added.values()];
  }

  /** The store's own first. */
  get ready(): ChunkFolder[] {
    return [this.own, ...this.added].filter(({ isReady }) => isReady);
  }

  get(id: string): ChunkFolder | undefined {
    return id === OWN_FOLDER ? this.own : this.#added.get(id);
  }

  /** The folder that holds a path. */
  holding(path: string): ChunkFolder {
    return this.added.find(({ layout }) => layout.holds(path)) ?? this.own;
  }

  add({ id, path }: AddedFolder): ChunkFolder {
    const folder = new ChunkFolder(id, folderWithin(path), this.#fs, this.#limits);
    this.#added.set(id, folder);
    return folder;
  }

  /** Closes a folder. */
  detach(id: string): void {
    this.#added.get(id)?.close();
    this.#added.delete(id);
  }

  /** Closes a folder; if it is connected, what the store created there is deleted, as far as it is empty. */
  async delete(id: string): Promise<void> {
    const folder = this.#added.get(id);
    this.#added.delete(id);
    if (!folder) return;
    const isThere = await folder.isThere();
    folder.close();
    if (!isThere) return;
    for (const path of [markerOf(folder.layout.dir), folder.layout.lock])
      await this.#fs.unlink(path).catch(() => undefined);
    await removeEmpty(folder.layout.dir);
  }
}

/** Deletes a folder and those in it, unless there are files in them. */
async function removeEmpty(dir: string): Promise<void> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await removeEmpty(join(dir, entry.name));
  await rmdir(dir).catch(() => undefined);
}

/** The folder for chunk files within one that a person chose. */
export function folderWithin(path: string): string {
  return join(path, SUBFOLDER);
}

/**
 * Prepares a folder that a person chose, and returns its id: that of an earlier use, if it has one. Node's errors of the
 * file system.
 */
export async function prepareFolder(path: string): Promise<string> {
  const dir = folderWithin(path);
  const known = await readMarker(dir);
  if (known !== undefined) return known;
  await mkdir(dir, { recursive: true, mode: 0o700 }); // chunks are derived from documents: nobody else's business
  const marker: z.infer<typeof MarkerSchema> = {
    kind: 'kvasir-cache-folder',
    version: 1,
    id: randomBytes(8).toString('hex'),
  };
  await writeFile(join(dir, MARKER), `${JSON.stringify(marker)}\n`, { flush: true });
  return marker.id;
}

function markerOf(dir: string): string {
  return join(dir, MARKER);
}

/** Undefined if there is none, or it cannot be read now. */
async function readMarker(dir: string): Promise<string | undefined> {
  try {
    return MarkerSchema.parse(JSON.parse(await readFile(markerOf(dir), 'utf8'))).id;
  } catch {
    return undefined;
  }
}
