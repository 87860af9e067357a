import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isMissing } from './errors.ts';
import { stamp, type StoreFs } from './files.ts';

export interface QuarantineCap {
  files: number;
  bytes: number;
}

/** Enough for diagnosis; small compared with any sensible budget. */
const QUARANTINE_CAP: QuarantineCap = { files: 32, bytes: 256 * 2 ** 20 };

/** Folder of bad files: never served, kept for diagnosis, the oldest deleted first above the cap. */
export class Quarantine {
  readonly #dir: string;
  readonly #fs: StoreFs;
  readonly #cap: QuarantineCap;
  /** Oldest first. */
  #files: { name: string; bytes: number }[] = [];
  #count = 0;

  constructor(dir: string, fs: StoreFs, cap: QuarantineCap = QUARANTINE_CAP) {
    this.#dir = dir;
    this.#fs = fs;
    this.#cap = cap;
  }

  get totals(): { files: number; bytes: number } {
    return { files: this.#files.length, bytes: this.#files.reduce((sum, file) => sum + file.bytes, 0) };
  }

  /** Lists the existing files. */
  async load(): Promise<void> {
    // Names begin with the time of arrival.
    const entries = await readdir(this.#dir, { withFileTypes: true });
    this.#files = [];
    // Items that the store did not put there, such as links, are neither counted nor deleted.
    for (const name of entries.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).sort())
      this.#files.push({ name, bytes: await sizeOf(join(this.#dir, name)) });
    await this.#trim();
  }

  /** Moves a file in. A missing file is not an error. */
  async take(path: string, now: number): Promise<void> {
    const name = `${stamp(now)}-${String(this.#count++).padStart(4, '0')}-${basename(path)}`;
    const target = join(this.#dir, name);
    try {
      await this.#fs.rename(path, target);
    } catch (error) {
      if (isMissing(error)) return;
      throw error;
    }
    this.#files.push({ name, bytes: await sizeOf(target) });
    await this.#trim();
  }

  /** The newest file stays even if it alone exceeds the cap. */
  async #trim(): Promise<void> {
    let { files, bytes } = this.totals;
    while (files > 1 && (files > this.#cap.files || bytes > this.#cap.bytes)) {
      const oldest = this.#files.shift();
      if (!oldest) return;
      await this.#fs.unlink(join(this.#dir, oldest.name)).catch(() => undefined);
      files--;
      bytes -= oldest.bytes;
    }
  }
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path)).size;
}
