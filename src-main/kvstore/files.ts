import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { messageOf } from '../platform/failure.ts';
import { spaceOf, type DiskSpace } from '../platform/space.ts';
import { isMissing } from './errors.ts';

/** The calls that change the folder; tests replace them to inject faults. */
export interface StoreFs {
  /** Creates a folder and its parents; true if it did not exist. */
  makeDir(path: string): Promise<boolean>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  space(path: string): Promise<DiskSpace | undefined>;
  /** Makes renames and unlinks in a directory durable. */
  syncDir(path: string): Promise<void>;
}

export const nodeFs: StoreFs = {
  async makeDir(path) {
    try {
      return (await mkdir(path, { recursive: true })) !== undefined;
    } catch (error) {
      // A recursive mkdir creates parents, so the only reason for "no such folder" is missing permission: Node reports
      // that for a read-only file system.
      if (isMissing(error))
        throw Object.assign(new Error(messageOf(error), { cause: error }), { code: 'EROFS' });
      throw error;
    }
  },
  rename,
  unlink,
  space: spaceOf,
  async syncDir(path) {
    // Windows cannot open a directory for this; NTFS journals renames itself.
    if (process.platform === 'win32') return;
    const handle = await open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
};

/** The store's paths. All folders share a file system, so that a rename is atomic. */
export class Layout {
  readonly dir: string;
  readonly index: string;
  readonly lock: string;
  readonly chunks: string;
  readonly quarantine: string;
  readonly tmp: string;
  #temporaries = 0;

  constructor(dir: string) {
    this.dir = dir;
    this.index = join(dir, 'index.db');
    this.lock = join(dir, 'lock.db');
    this.chunks = join(dir, 'chunks');
    this.quarantine = join(dir, 'quarantine');
    this.tmp = join(dir, 'tmp');
  }

  chunkDir(key: string): string {
    return join(this.chunks, fanOut(key));
  }

  chunkFile(key: string, formatVersion: number): string {
    return join(this.chunkDir(key), chunkFileName(key, formatVersion));
  }

  tempFile(key: string): string {
    return join(this.tmp, `${key}.${process.pid}-${this.#temporaries++}`);
  }

  /** A path for reports: relative to the store's folder, with forward slashes. */
  relative(path: string): string {
    return path.slice(this.dir.length + 1).replaceAll(sep, '/');
  }

  /** Whether a path is inside the folder. */
  holds(path: string): boolean {
    return path.startsWith(this.dir + sep);
  }
}

/** The name of a chunk's folder: by the key's first byte, so that none gets too long to list. */
export function fanOut(key: string): string {
  return key.slice(0, 2);
}

/**
 * The version is part of the name, so that a newer Kvasir's file and ours can coexist under one key and neither ever
 * overwrites the other.
 */
export function chunkFileName(key: string, formatVersion: number): string {
  return `${key}.v${formatVersion}.kvc`;
}

/** Undefined for a name that the store would not create. */
export function parseChunkFileName(name: string): { key: string; formatVersion: number } | undefined {
  const match = /^([0-9a-f]{64})\.v([1-9][0-9]{0,5})\.kvc$/.exec(name);
  return match?.[1] === undefined ? undefined : { key: match[1], formatVersion: Number(match[2]) };
}

/** A timestamp for file names: sortable, and valid on every system. */
export function stamp(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:.]/g, '');
}
