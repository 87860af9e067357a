import type { Dirent, Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SkippedFile } from '../../../src-shared/contract/libraries.ts';
import type { DocumentFailure } from '../../../src-shared/library.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { throwIfAborted } from '../../platform/abort.ts';
import { diskPath } from '../../platform/disk-path.ts';
import { isDocument } from '../formats/formats.ts';
import { placeholdersAmong } from './placeholders.ts';

/** Folders and files of other programs that are not meant for reading. */
const OTHERS = new Set([
  'node_modules',
  '__pycache__',
  '__macosx',
  'desktop.ini',
  'thumbs.db',
  'ehthumbs.db',
  'icon\r', // a folder's picture on macOS
  '$recycle.bin',
  'system volume information',
  'lost+found',
]);
/** Files that programs keep beside another while they edit or download it: Word, editors (backups, swap files, locks), browsers. */
const PASSING =
  /^(?:~wrl\d+\.tmp$|#.*#$)|~$|\.(?:sw[a-p]|tmp|temp|part|partial|crdownload|download|lock|lck)$/i;

/** Names of files that are only in a cloud: Nextcloud's and ownCloud's, and iCloud Drive's before macOS 14. */
const STAND_IN = /^(?:(.+)\.(?:nextcloud|owncloud)|\.(.+)\.icloud)$/;

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

/** The state of a scan. */
interface Visit {
  root: string;
  scan: Scan;
  /** Real paths of folders. */
  visited: Set<string>;
  /** Links, which are followed last: what they lead to keeps its own path if it is in the folder. */
  links: string[];
  /** Of the files found, by absolute path. */
  stats: Map<string, Stats>;
  signal: AbortSignal | undefined;
}

/**
 * Finds the documents in a folder and its subfolders. Hidden files are skipped; links are followed, but every folder is visited once, so
 * that a link to a parent ends. Files that are only in a cloud are skipped. LIBRARY_NOT_FOUND when `root` is not a readable folder.
 */
export async function scanFolder(root: string, signal?: AbortSignal): Promise<Scan> {
  const scan: Scan = { files: [], failures: [], skipped: [] };
  await requireFolder(root);
  const visited = new Set([await realpath(root)]);
  const visit: Visit = { root, scan, visited, links: [], stats: new Map(), signal };
  await visitFolder('', visit);
  for (let link = visit.links.shift(); link !== undefined; link = visit.links.shift())
    await visitEntry(link, visit);
  const placeholders = await placeholdersAmong(visit.stats);
  for (const { path, absolutePath } of scan.files)
    if (placeholders.has(absolutePath)) scan.skipped.push({ path, reason: 'online' });
  scan.files = scan.files.filter(({ absolutePath }) => !placeholders.has(absolutePath));
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

async function visitFolder(folder: string, visit: Visit): Promise<void> {
  const { root, scan, links, signal } = visit;
  throwIfAborted(signal);
  let entries: Dirent[];
  try {
    entries = await readdir(diskPath(join(root, folder)), { withFileTypes: true });
  } catch (error) {
    scan.failures.push(unreadable(folder || '.', error));
    scan.skipped.push({ path: folder || '.', reason: 'unreadable' });
    return;
  }
  // The same order each time: the first of two links to one folder names its documents.
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const [, suffixed, hidden = suffixed] = STAND_IN.exec(entry.name) ?? [];
    if (hidden !== undefined && isDocument(hidden)) {
      scan.skipped.push({ path: folder ? `${folder}/${hidden}` : hidden, reason: 'online' });
      continue;
    }
    if (isSkipped(entry.name) || (entry.isFile() && PASSING.test(entry.name))) continue;
    const path = folder ? `${folder}/${entry.name}` : entry.name;
    if (entry.isFile() && !isDocument(entry.name)) scan.skipped.push({ path, reason: 'kind' });
    else if (entry.isSymbolicLink()) links.push(path);
    else await visitEntry(path, visit);
  }
}

async function visitEntry(path: string, visit: Visit): Promise<void> {
  const { root, scan, visited, stats, signal } = visit;
  const absolutePath = join(root, path);
  try {
    const place = diskPath(absolutePath);
    const info = await stat(place);
    if (info.isDirectory()) {
      const real = await realpath(place);
      if (visited.has(real)) return;
      visited.add(real);
      await visitFolder(path, visit);
    } else if (info.isFile() && isDocument(path)) {
      if (stats.has(absolutePath)) return; // two names that are not UTF-8 and look the same: the first is read
      stats.set(absolutePath, info);
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
