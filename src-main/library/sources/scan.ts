import type { Dirent } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SkippedFile } from '../../../src-shared/contract/libraries.ts';
import type { DocumentFailure } from '../../../src-shared/library.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { throwIfAborted } from '../../platform/abort.ts';
import { isDocument } from '../formats/formats.ts';

/** Folders and files of other programs that are not meant for reading. */
const OTHERS = new Set(['node_modules', '__pycache__', 'desktop.ini', 'thumbs.db']);

export interface ScannedFile {
  /** Relative to the folder, with forward slashes on every platform. */
  path: string;
  absolutePath: string;
  bytes: number;
  mtimeMs: number;
}

export interface Scan {
  /** Sorted by path, so that every run sees the same order. */
  files: ScannedFile[];
  failures: DocumentFailure[];
  /** Files that are not documents, sorted likewise; without hidden ones. */
  skipped: SkippedFile[];
}

/**
 * Finds the documents in a folder and its subfolders. Hidden files are skipped; links are followed, but every folder
 * is visited once, so that a link to a parent ends. LIBRARY_NOT_FOUND when `root` is not a readable folder.
 */
export async function scanFolder(root: string, signal?: AbortSignal): Promise<Scan> {
  const scan: Scan = { files: [], failures: [], skipped: [] };
  await requireFolder(root);
  await visit(root, '', scan, new Set([await realpath(root)]), signal);
  for (const list of [scan.files, scan.skipped]) list.sort((a, b) => (a.path < b.path ? -1 : 1));
  return scan;
}

/** LIBRARY_NOT_FOUND unless `root` is a folder. */
export async function requireFolder(root: string): Promise<void> {
  const info = await stat(root).catch(() => undefined);
  if (info?.isDirectory()) return;
  const what = info ? 'is a file, not a folder' : 'does not exist';
  throw new KvasirError(
    'LIBRARY_NOT_FOUND',
    `The library folder ${root} ${what}.`,
    'Name a folder of documents.',
  );
}

async function visit(
  root: string,
  folder: string,
  scan: Scan,
  visited: Set<string>,
  signal?: AbortSignal,
): Promise<void> {
  throwIfAborted(signal);
  let entries: Dirent[];
  try {
    entries = await readdir(join(root, folder), { withFileTypes: true });
  } catch (error) {
    scan.failures.push(unreadable(folder || '.', error));
    scan.skipped.push({ path: folder || '.', reason: 'unreadable' });
    return;
  }
  for (const entry of entries) {
    if (isSkipped(entry.name)) continue;
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (entry.isFile() && !isDocument(entry.name)) scan.skipped.push({ path, reason: 'kind' });
    else await visitEntry(root, path, scan, visited, signal);
  }
}

async function visitEntry(
  root: string,
  path: string,
  scan: Scan,
  visited: Set<string>,
  signal?: AbortSignal,
): Promise<void> {
  const absolutePath = join(root, path);
  try {
    const info = await stat(absolutePath);
    if (info.isDirectory()) {
      const real = await realpath(absolutePath);
      if (visited.has(real)) return;
      visited.add(real);
      await visit(root, path, scan, visited, signal);
    } else if (info.isFile() && isDocument(path)) {
      scan.files.push({ path, absolutePath, bytes: info.size, mtimeMs: info.mtimeMs });
    } else if (info.isFile()) scan.skipped.push({ path, reason: 'kind' });
  } catch (error) {
    throwIfAborted(signal);
    scan.skipped.push({ path, reason: 'unreadable' });
    // A dangling link to something other than a document is not reported.
    if (isDocument(path)) scan.failures.push(unreadable(path, error));
  }
}

/** Hidden files and folders, and those that other programs keep for their own use: caches, lock files and settings. */
export function isSkipped(name: string): boolean {
  return name.startsWith('.') || name.startsWith('~$') || OTHERS.has(name.toLowerCase());
}

/** The failure of a file or folder that the operating system denies access to. */
function unreadable(path: string, error: unknown): DocumentFailure {
  const code = (error as NodeJS.ErrnoException | undefined)?.code ?? 'unknown error';
  return { path, code: 'DOCUMENT_UNREADABLE', message: `It cannot be read (${code}): ${path}.` };
}
