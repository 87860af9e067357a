import { randomUUID } from 'node:crypto';
import { constants, existsSync, readdirSync, statSync } from 'node:fs';
import { copyFile, realpath, rename, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { KvasirError } from '../../../src-shared/errors.ts';
import { discard } from '../../platform/discard.ts';
import { fileError } from '../../platform/paths.ts';
import { requireSpace } from '../../platform/space.ts';
import { syncFile } from '../../platform/sync-file.ts';
import { filesOf, partOf, partPath, stemOf } from './model-parts.ts';

/** The folder of model files that Kvasir created. */
export class ModelFiles {
  readonly dir: string;
  /** Paths of unfinished downloads, which may have no file yet. */
  readonly reserved = new Set<string>();

  constructor(dir: string) {
    this.dir = resolve(dir);
  }

  /** Whether Kvasir created a file, so that it may delete it. */
  owns(path: string): boolean {
    const inside = relative(this.dir, resolve(path));
    return inside !== '' && !inside.startsWith('..') && dirname(inside) === '.';
  }

  /** Models in the folder, by their first file, without those of unfinished downloads. */
  all(): string[] {
    if (!existsSync(this.dir)) return [];
    return readdirSync(this.dir)
      .filter((name) => name.endsWith('.gguf') && (partOf(name)?.part ?? 1) === 1)
      .map((name) => join(this.dir, name))
      .filter((path) => !this.reserved.has(path));
  }

  /** Copies a file in; it gets its name once it is complete. CONFLICT, MODEL_NOT_FOUND, DISK_FULL, STORE_READ_ONLY. */
  async copyIn(path: string): Promise<string> {
    if (filesOf(path).length > 1) {
      throw new KvasirError(
        'CONFLICT',
        `${basename(path)} is one of several files of a model, which are used where they lie.`,
        'Import the model without copying it.',
      );
    }
    await this.requireSpace((await stat(path)).size);
    const target = this.freeName(basename(path));
    const part = `${target}.${randomUUID()}.part`;
    try {
      // Clones the file if the file system supports it.
      await copyFile(path, part, constants.COPYFILE_FICLONE);
      await syncFile(part); // before it has a model's name
      await rename(part, target);
      return target;
    } catch (error) {
      await discard(part);
      throw fileError(error, `${basename(path)} could not be copied to ${this.dir}`);
    }
  }

  /** An unused path in the folder; a file name from elsewhere is reduced to safe characters. */
  freeName(name: string): string {
    return this.freeNames(name, 1)[0] as string;
  }

  /** The same for a split model, whose files find one another by name. */
  freeNames(name: string, parts: number): string[] {
    const plain = basename(name.replaceAll('\\', '/')).replace(/[^\p{L}\p{N}._ -]/gu, '_');
    const given = (parts > 1 ? stemOf(plain) : plain.replace(/\.gguf$/i, '')).slice(0, 150) || 'model';
    for (let n = 1; ; n++) {
      const stem = join(this.dir, n === 1 ? given : `${given} (${n})`);
      const paths =
        parts > 1
          ? Array.from({ length: parts }, (_, i) => partPath({ stem, parts }, i + 1))
          : [`${stem}.gguf`];
      const isTaken = (path: string): boolean =>
        this.reserved.has(path) || existsSync(path) || existsSync(`${path}.part`);
      if (!paths.some(isTaken)) return paths;
    }
  }

  /** DISK_FULL if `bytes` more would not fit, or barely. Creates the folder. */
  requireSpace(bytes: number): Promise<void> {
    return requireSpace(this.dir, bytes, 'A model');
  }
}

/**
 * The canonical path of a model, with links resolved; for a split model only its folder is resolved, because the parts
 * are found by the first one's name.
 */
export async function whereItLies(path: string): Promise<string> {
  if (filesOf(path).length === 1) return resolve(await realpath(path));
  return join(await realpath(dirname(path)), basename(path));
}

/** Modification time of a model's files, in milliseconds since 1970; undefined if the model does not exist. */
export function modifiedMs(path: string): number | undefined {
  const found = filesOf(path).map((file) => statSync(file, { throwIfNoEntry: false }));
  return found[0]?.isFile() ? Math.max(...found.map((file) => file?.mtimeMs ?? 0)) : undefined;
}
