import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isName, SharingError, type Driver, type ValueSource } from '../driver.ts';
import { discard } from '../../platform/discard.ts';

interface FolderOptions {
  /** Never created: a missing folder means a disconnected drive. */
  dir: string;
  /** Never writes, touches or deletes anything. */
  readOnly: boolean;
  /** Size limit in bytes; the least recently used values are deleted first. */
  limitBytes: number;
}

const VALUE = /^([0-9a-f]{64})\.kvs$/;
const TEMPORARY = /^[0-9a-f]{64}\.[0-9a-f]{16}\.tmp$/;
const FAN = /^[0-9a-f]{2}$/;
/** A writer that takes longer, in milliseconds, is dead. */
const TEMPORARY_MS = 24 * 3600_000;
/** Other machines write too: the folder is counted again after this time, in milliseconds. */
const COUNTED_MS = 10 * 60_000;
/** Share of the limit kept by a cleanup, so that not every write has to count and delete. */
const CLEARED_TO = 0.95;
/** Precision, in milliseconds, of the last use recorded as the file's time. */
const TOUCHED_MS = 3600_000;

/**
 * Mode bits of the shared folder that its subfolders and values inherit: they are for the same users, while everything
 * else this process creates is private (platform/private-data.ts). With the group, if it is inherited.
 */
const FAN_MODE = 0o2777;
const VALUE_MODE = 0o666;

interface StoredFile {
  path: string;
  bytes: number;
  usedMs: number;
}

/** Values in a folder shared by several machines. Touches no file whose name is not in its format. */
export class FolderDriver implements Driver {
  readonly largestBytes: number;
  readonly #options: FolderOptions;
  /** Total size at the last count, after the cleanup. */
  #counted: { bytes: number; atMs: number } | undefined;
  /** Bytes written since. */
  #writtenBytes = 0;
  #counting: AbortController | undefined;

  constructor(options: FolderOptions) {
    this.#options = options;
    this.largestBytes = options.limitBytes;
  }

  async sizes(names: readonly string[]): Promise<Map<string, number>> {
    const found = new Map<string, number>();
    await Promise.all(
      names.map(async (name) => {
        const file = await stat(this.#path(name)).catch(unlessMissing);
        if (file?.isFile()) found.set(name, file.size);
      }),
    );
    if (found.size === 0) await this.#requireFolder();
    return found;
  }

  async read(name: string, from: number, bytes: number): Promise<Uint8Array> {
    const file = await open(this.#path(name), 'r').catch(unlessMissing);
    if (!file) return new Uint8Array();
    try {
      const buffer = Buffer.allocUnsafe(bytes);
      let got = 0;
      while (got < bytes) {
        const { bytesRead } = await file.read(buffer, got, bytes - got, from + got);
        if (bytesRead === 0) break;
        got += bytesRead;
      }
      const { mtimeMs } = await file.stat();
      if (!this.#options.readOnly && Date.now() - mtimeMs > TOUCHED_MS) {
        // Only the owner can set a file's times: other users' files expire by their write time.
        await file.utimes(new Date(), new Date()).catch(() => undefined);
      }
      return buffer.subarray(0, got);
    } finally {
      await file.close();
    }
  }

  async write(name: string, value: ValueSource, signal: AbortSignal, over = false): Promise<void> {
    if (this.#options.readOnly) throw new SharingError('readOnly', 'the folder is set to be read only');
    const mode = await this.#requireFolder();
    this.#requireRoom();
    const path = this.#path(name);
    const temporary = join(this.#dir(name), `${name}.${randomBytes(8).toString('hex')}.tmp`);
    await mkdir(this.#dir(name)).catch(unlessThere);
    await chmod(this.#dir(name), mode & FAN_MODE).catch(asItIs);
    let needed = value.bytes;
    try {
      await writeNew(temporary, value, signal);
      await chmod(temporary, mode & VALUE_MODE).catch(asItIs);
      if (!over && (await stat(path).catch(unlessMissing))) return;
      await rename(temporary, path);
      this.#writtenBytes += value.bytes;
      needed = 0;
    } finally {
      await discard(temporary);
      this.#keepLimit(needed); // also for a full drive, whose size may be the limit
    }
  }

  async remove(name: string): Promise<void> {
    await rm(this.#path(name), { force: true });
  }

  /** There is no connection; only stops counting. */
  reset(): void {
    this.#counting?.abort();
  }

  #dir(name: string): string {
    return join(this.#options.dir, name.slice(0, 2));
  }

  #path(name: string): string {
    if (!isName(name)) throw new TypeError('FolderDriver: a name has 64 hexadecimal digits.');
    return join(this.#dir(name), `${name}.kvs`);
  }

  /** Returns the folder's mode. */
  async #requireFolder(): Promise<number> {
    const { dir, readOnly } = this.#options;
    const folder = await stat(dir).catch(unlessMissing);
    if (!folder?.isDirectory()) throw new SharingError('noFolder', `${dir} is not there`);
    await access(dir, readOnly ? constants.R_OK : constants.R_OK | constants.W_OK).catch((error: unknown) => {
      throw readOnly ? error : new SharingError('readOnly', `${dir} cannot be written`, { cause: error });
    });
    return folder.mode;
  }

  /** Stops writing if the cleanup cannot free enough. */
  #requireRoom(): void {
    if (!this.#counted || this.#counted.bytes <= this.#options.limitBytes) return;
    this.#keepLimit(0);
    throw new SharingError('full', 'what lies there cannot be removed');
  }

  /**
   * Counts the folder when due and frees the space still needed: in the background, because a large folder takes longer
   * than a write may.
   */
  #keepLimit(needed: number): void {
    if (this.#counting || !this.#isDue(needed)) return;
    const counting = new AbortController();
    this.#counting = counting;
    void this.#makeRoom(needed, counting.signal)
      .catch(() => undefined) // retried at the next write, which reports the error
      .finally(() => (this.#counting = undefined));
  }

  #isDue(needed: number): boolean {
    const [{ limitBytes }, counted] = [this.#options, this.#counted];
    if (limitBytes === Infinity) return false;
    if (!counted || performance.now() - counted.atMs > COUNTED_MS) return true;
    return counted.bytes <= limitBytes && counted.bytes + this.#writtenBytes + needed > limitBytes;
  }

  async #makeRoom(needed: number, signal: AbortSignal): Promise<void> {
    const { limitBytes } = this.#options;
    const before = this.#writtenBytes;
    const all = await this.#all(signal);
    let used = all.reduce((sum, file) => sum + file.bytes, 0);
    const cleared = Math.min(limitBytes * CLEARED_TO, limitBytes - needed);
    const most = used + needed > limitBytes ? cleared : limitBytes;
    for (const file of all.sort((a, b) => a.usedMs - b.usedMs)) {
      if (used <= most) break;
      signal.throwIfAborted();
      if (await isRemoved(file.path)) used -= file.bytes;
    }
    this.#counted = { bytes: used, atMs: performance.now() };
    this.#writtenBytes -= before;
  }

  /** All values. Removes the files of dead writers. */
  async #all(signal: AbortSignal): Promise<StoredFile[]> {
    const all: StoredFile[] = [];
    for (const fan of await readdir(this.#options.dir)) {
      if (!FAN.test(fan)) continue;
      signal.throwIfAborted();
      const dir = join(this.#options.dir, fan);
      for (const entry of await readdir(dir)) {
        const path = join(dir, entry);
        const file =
          VALUE.test(entry) || TEMPORARY.test(entry) ? await stat(path).catch(unlessMissing) : undefined;
        if (!file?.isFile()) continue;
        if (VALUE.test(entry)) all.push({ path, bytes: file.size, usedMs: file.mtimeMs });
        else if (Date.now() - file.mtimeMs > TEMPORARY_MS) await isRemoved(path);
      }
    }
    return all;
  }
}

async function writeNew(path: string, value: ValueSource, signal: AbortSignal): Promise<void> {
  const file = await open(path, 'wx');
  try {
    for await (const piece of value.pieces()) {
      signal.throwIfAborted();
      await file.writeFile(piece);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Other users' files may only be removable by them. */
function isRemoved(path: string): Promise<boolean> {
  return rm(path, { force: true }).then(
    () => true,
    () => false,
  );
}

/** Another machine created it, or the drive has no modes. */
function asItIs(): void {
  // Leave it unchanged.
}

function unlessMissing(error: unknown): undefined {
  if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
  throw error;
}

function unlessThere(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
  throw error;
}
