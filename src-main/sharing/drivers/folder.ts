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
  #used: { bytes: number; countedMs: number } | undefined;

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
    await this.#makeRoom(value.bytes, signal);
    const path = this.#path(name);
    const temporary = join(this.#dir(name), `${name}.${randomBytes(8).toString('hex')}.tmp`);
    await mkdir(this.#dir(name)).catch(unlessThere);
    await chmod(this.#dir(name), mode & FAN_MODE).catch(asItIs);
    try {
      await writeNew(temporary, value, signal);
      await chmod(temporary, mode & VALUE_MODE).catch(asItIs);
      if (!over && (await stat(path).catch(unlessMissing))) return;
      await rename(temporary, path);
      if (this.#used) this.#used.bytes += value.bytes;
    } finally {
      await rm(temporary, { force: true }).catch(() => undefined);
    }
  }

  async remove(name: string): Promise<void> {
    await rm(this.#path(name), { force: true });
  }

  reset(): void {
    // There is no connection.
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

  async #makeRoom(bytes: number, signal: AbortSignal): Promise<void> {
    const { limitBytes } = this.#options;
    if (limitBytes === Infinity) return;
    if (
      this.#used &&
      Date.now() - this.#used.countedMs < COUNTED_MS &&
      this.#used.bytes + bytes <= limitBytes
    )
      return;
    const all = await this.#all(signal);
    let used = all.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of all.sort((a, b) => a.usedMs - b.usedMs)) {
      if (used + bytes <= limitBytes) break;
      await rm(file.path, { force: true });
      used -= file.bytes;
    }
    this.#used = { bytes: used, countedMs: Date.now() };
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
        else if (Date.now() - file.mtimeMs > TEMPORARY_MS) await rm(path, { force: true });
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
