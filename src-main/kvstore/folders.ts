import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { messageOf } from '../platform/failure.ts';
import { codeOf } from './errors.ts';
import { Layout, type StoreFs } from './files.ts';
import { StoreLock } from './lock.ts';
import { Quarantine, type QuarantineCap } from './quarantine.ts';
import type { AddedFolder, FolderState } from './types.ts';

/** Id of the store's own folder. */
export const OWN_FOLDER = '';

/** People's folders may contain a `chunks` or a `tmp` already, so Kvasir keeps to this folder within theirs. */
const SUBFOLDER = 'kvasir-cache';
const MARKER = 'folder.json';

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
  readonly #fs: StoreFs;
  #lock: StoreLock | undefined;

  constructor(id: string, dir: string, fs: StoreFs, cap?: QuarantineCap) {
    this.id = id;
    this.layout = new Layout(dir);
    this.quarantine = new Quarantine(this.layout.quarantine, fs, cap);
    this.state = id === OWN_FOLDER ? 'ready' : 'not-connected';
    this.#fs = fs;
  }

  get isReady(): boolean {
    return this.state === 'ready';
  }

  /** Whether its drive is connected. */
  async isThere(): Promise<boolean> {
    return this.id === OWN_FOLDER || (await readMarker(this.layout.dir)) === this.id;
  }

  /** Locks an added folder for this process; false, with the reason in `state`, if it cannot be used now. */
  async open(): Promise<boolean> {
    try {
      if (!(await this.isThere())) return this.#cannot('not-connected');
      for (const dir of [this.layout.chunks, this.layout.quarantine, this.layout.tmp])
        await this.#fs.makeDir(dir);
      this.#lock ??= StoreLock.take(this.layout.lock);
      await this.quarantine.load();
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
    this.state = state;
    this.problem = problem;
    try {
      this.#lock?.release();
    } catch {
      // Its drive is gone, and the lock with it.
    }
    this.#lock = undefined;
    return false;
  }
}

/** The folders of a store. */
export class ChunkFolders {
  readonly own: ChunkFolder;
  readonly #fs: StoreFs;
  readonly #cap: QuarantineCap | undefined;
  readonly #added = new Map<string, ChunkFolder>();

  constructor(dir: string, fs: StoreFs, cap?: QuarantineCap) {
    this.#fs = fs;
    this.#cap = cap;
    this.own = new ChunkFolder(OWN_FOLDER, dir, fs, cap);
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
    const folder = new ChunkFolder(id, folderWithin(path), this.#fs, this.#cap);
    this.#added.set(id, folder);
    return folder;
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
