import { randomUUID } from 'node:crypto';
import { constants, existsSync, statSync } from 'node:fs';
import { copyFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { KvasirError } from '../../src-shared/errors.ts';
import { fileError } from '../platform/paths.ts';
import { requireSpace } from '../platform/download/space.ts';
import { filesOf, partPath, stemOf } from './model-parts.ts';

/** The folder of the model files that Kvasir put there itself. */
export class ModelFiles {
  readonly dir: string;

  constructor(dir: string) {
    this.dir = resolve(dir);
  }

  /** Whether Kvasir put a file there, so that it may delete it. */
  owns(path: string): boolean {
    const inside = relative(this.dir, resolve(path));
    return inside !== '' && !inside.startsWith('..') && dirname(inside) === '.';
  }

  /** Copies a file in; it appears under its name once it is whole. CONFLICT, MODEL_NOT_FOUND, DISK_FULL, STORE_READ_ONLY. */
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
      // Shares the bytes where the file system can.
      await copyFile(path, part, constants.COPYFILE_FICLONE);
      await rename(part, target);
      return target;
    } catch (error) {
      await rm(part, { force: true });
      throw fileError(error, `${basename(path)} could not be copied to ${this.dir}`);
    }
  }

  /** A path in the folder that nothing has; a file name from elsewhere is reduced to harmless characters. */
  freeName(name: string): string {
    return this.freeNames(name, 1)[0] as string;
  }

  /** The same for a model in several files, which find one another by their names. */
  freeNames(name: string, parts: number): string[] {
    const plain = basename(name.replaceAll('\\', '/')).replace(/[^\p{L}\p{N}._ -]/gu, '_');
    const given = (parts > 1 ? stemOf(plain) : plain.replace(/\.gguf$/i, '')).slice(0, 150) || 'model';
    for (let n = 1; ; n++) {
      const stem = join(this.dir, n === 1 ? given : `${given} (${n})`);
      const paths =
        parts > 1
          ? Array.from({ length: parts }, (_, i) => partPath({ stem, parts }, i + 1))
          : [`${stem}.gguf`];
      if (!paths.some((path) => existsSync(path) || existsSync(`${path}.part`))) return paths;
    }
  }

  /** DISK_FULL when `bytes` more would not fit, or nearly. Makes the folder. */
  requireSpace(bytes: number): Promise<void> {
    return requireSpace(this.dir, bytes, 'A model');
  }
}

/**
 * The one path that a model is known by, links followed; of a model in several files only to their folder, since each is found by the
 * name of the first there.
 */
export async function whereItLies(path: string): Promise<string> {
  if (filesOf(path).length === 1) return resolve(await realpath(path));
  return join(await realpath(dirname(path)), basename(path));
}

/** When a model's files were last changed, in milliseconds since 1970; undefined when it is not there. */
export function modifiedMs(path: string): number | undefined {
  const found = filesOf(path).map((file) => statSync(file, { throwIfNoEntry: false }));
  return found[0]?.isFile() ? Math.max(...found.map((file) => file?.mtimeMs ?? 0)) : undefined;
}
