import { realpath, stat } from 'node:fs/promises';
import { relative, sep } from 'node:path';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { LibraryTable, RootRow } from '../../catalogue/library-table.ts';

/** The kind of a path that a user named, with links resolved. LIBRARY_NOT_FOUND. */
export async function resolveExisting(path: string): Promise<{ path: string; kind: 'folder' | 'file' }> {
  const real = await realpath(path).catch(() => undefined);
  const info = real === undefined ? undefined : await stat(real).catch(() => undefined);
  if (real !== undefined && (info?.isDirectory() === true || info?.isFile() === true)) {
    return { path: real, kind: info.isDirectory() ? 'folder' : 'file' };
  }
  const message = `${path} was not found, or is not a file or folder.`;
  throw new KvasirError('LIBRARY_NOT_FOUND', message, 'Check the path.');
}

/** Makes a path a root of a library, unless it is in one of the library's folders; returns the root it belongs to. */
export function addPath(
  libraries: LibraryTable,
  libraryId: number,
  added: Pick<RootRow, 'kind' | 'path' | 'watched'>,
  folders: readonly RootRow[],
): RootRow {
  const around = folders.find((folder) => isBelow(folder.path, added.path));
  if (around) {
    // Added again on purpose: excluded documents in it are included again.
    libraries.include(around.id, relative(around.path, added.path).split(sep).join('/'));
    return around;
  }
  const id = libraries.addRoot(libraryId, added);
  libraries.include(id, '');
  return { id, libraryId, failure: null, ...added };
}

/** The location of a path in a root, with forward slashes; '' for the whole root or for a folder that contains it. undefined: elsewhere. */
export function pathInRoot(root: string, path: string): string | undefined {
  if (isBelow(path, root)) return '';
  return isBelow(root, path) ? relative(root, path).split(sep).join('/') : undefined;
}

export function isBelow(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
