import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isName, type Driver, type Outgoing } from '../driver.ts';
import { SharingError } from '../failures.ts';

interface FolderOptions {
  /** It is never made: one that is not there is a drive that is not connected. */
  dir: string;
  /** Nothing is written, touched or deleted. */
  readOnly: boolean;
  /** Most bytes of values; above it the ones used longest ago go. */
  limitBytes: number;
}

const VALUE = /^([0-9a-f]{64})\.kvs$/;
const TEMPORARY = /^[0-9a-f]{64}\.[0-9a-f]{16}\.tmp$/;
const FAN = /^[0-9a-f]{2}$/;
/** A writer that takes longer is dead. */
const TEMPORARY_MS = 24 * 3600_000;
/** Others write too: what lies there is counted again after this. */
const COUNTED_MS = 10 * 60_000;
/** Share of the limit that is left once it was passed, so that not every write counts and clears. */
const CLEARED_TO = 0.95;
/** How exactly a use is written down, as the time of the file. */
const TOUCHED_MS = 3600_000;

/**
 * What of the shared folder's mode its folders and values have: they are for whomever it is for, while all else that this process makes
 * is its user's own (platform/private-data.ts). With the group, where it is handed on.
 */
const FAN_MODE = 0o2777;
const VALUE_MODE = 0o666;

interface Found {
  path: string;
  bytes: number;
  usedMs: number;
}

/** Values in a folder that several machines see. It touches no file whose name it would not have given. */
export class FolderDriver implements Driver {
  readonly largestBytes: number;
  readonly #options: FolderOptions;
  /** What lay there when it was counted last, after what had to go went. */
  #counted: { bytes: number; atMs: number } | undefined;
  /** Since then. */
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
        // Where others own the files their time is theirs to set: then they leave by the time of writing.
        await file.utimes(new Date(), new Date()).catch(() => undefined);
      }
      return buffer.subarray(0, got);
    } finally {
      await file.close();
    }
  }

  async write(name: string, value: Outgoing, signal: AbortSignal, over = false): Promise<void> {
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
      await rm(temporary, { force: true }).catch(() => undefined);
      this.#keepLimit(needed); // of a full drive, too, whose size may be the limit
    }
  }

  async remove(name: string): Promise<void> {
    await rm(this.#path(name), { force: true });
  }

  /** There is no connection; only counting ends. */
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

  /** Gives its mode. */
  async #requireFolder(): Promise<number> {
    const { dir, readOnly } = this.#options;
    const folder = await stat(dir).catch(unlessMissing);
    if (!folder?.isDirectory()) throw new SharingError('noFolder', `${dir} is not there`);
    await access(dir, readOnly ? constants.R_OK : constants.R_OK | constants.W_OK).catch((error: unknown) => {
      throw readOnly ? error : new SharingError('readOnly', `${dir} cannot be written`, { cause: error });
    });
    return folder.mode;
  }

  /** Nothing more is written where what lies there cannot be made less. */
  #requireRoom(): void {
    if (!this.#counted || this.#counted.bytes <= this.#options.limitBytes) return;
    this.#keepLimit(0);
    throw new SharingError('full', 'what lies there cannot be removed');
  }

  /**
   * Counts what lies there when it is time to, and makes room for what is still needed: in the background, since a large folder takes
   * longer than a write may.
   */
  #keepLimit(needed: number): void {
    if (this.#counting || !this.#isDue(needed)) return;
    const counting = new AbortController();
    this.#counting = counting;
    void this.#makeRoom(needed, counting.signal)
      .catch(() => undefined) // it is tried again at the next write, which tells what is wrong
      .finally(() => (this.#counting = undefined));
  }

  #isDue(needed: number): boolean {
    const [{ limitBytes }, counted] = [this.#options, this.#counted];
    if (limitBytes === Infinity) return false;
    if (!counted || Date.now() - counted.atMs > COUNTED_MS) return true;
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
    this.#counted = { bytes: used, atMs: Date.now() };
    this.#writtenBytes -= before;
  }

  /** All values. What dead writers left goes on the way. */
  async #all(signal: AbortSignal): Promise<Found[]> {
    const all: Found[] = [];
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

async function writeNew(path: string, value: Outgoing, signal: AbortSignal): Promise<void> {
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

/** Others' files may be theirs alone to remove. */
function isRemoved(path: string): Promise<boolean> {
  return rm(path, { force: true }).then(
    () => true,
    () => false,
  );
}

/** Somebody else made it, or the drive knows no modes. */
function asItIs(): void {
  // It stays so.
}

function unlessMissing(error: unknown): undefined {
  if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
  throw error;
}

function unlessThere(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
  throw error;
}
