import { rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { SkippedFile } from '../../../src-shared/contract/libraries.ts';
import type { DocumentFailure } from '../../../src-shared/library.ts';
import { yieldToEventLoop, throwIfAborted } from '../../platform/abort.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { KnownFile } from '../../catalogue/document-table.ts';
import { removeDocument } from './removal.ts';
import { formatOf } from '../formats/formats.ts';
import type { RootRow } from '../../catalogue/library-table.ts';
import { scanFolder, type Scan, type ScannedFile } from './scan.ts';

/** Files changed less than this before they were read may change again within the same timestamp. */
const MTIME_GRANULARITY_MS = 2000;
/** Rows read or written at a time. */
const BATCH = 500;

export interface RootChanges {
  files: number;
  /** Files to be read: new, changed, or to be retried. */
  queued: number;
  removed: number;
  renamed: number;
  /** Files and folders that could not be examined. */
  failures: DocumentFailure[];
  skipped: SkippedFile[];
}

interface RootScanOptions {
  signal?: AbortSignal | undefined;
  /** Whether failed files are queued even if they have not changed. */
  retryFailed?: boolean;
}

/**
 * Brings the catalogue's list of files up to date with the disk: new and changed files are queued, deleted ones are removed, a renamed file
 * keeps its document. LIBRARY_NOT_FOUND when the root does not exist, LIBRARY_EMPTY when all of its files disappeared together; then
 * nothing is changed. ABORTED.
 */
export async function scanRoot(
  catalogue: Catalogue,
  root: RootRow,
  { signal, retryFailed = false }: RootScanOptions = {},
): Promise<RootChanges> {
  const scan = root.kind === 'file' ? await scanFile(root.path) : await scanFolder(root.path, signal);
  const excluded = catalogue.libraries.excluded(root.id);
  const files = scan.files.filter(({ path }) => !excluded.has(path));
  if (root.kind === 'managed') await deleteExcluded(scan.files, excluded);
  const known = await knownFiles(catalogue, root.id, signal);
  const queue = files.filter((file) => needsReading(file, known.get(file.path), retryFailed));
  // A document whose file is now only in a cloud keeps its text.
  const online = scan.skipped.filter(({ reason }) => reason === 'online');
  const present = new Set([...files, ...online].map(({ path }) => path));
  // A folder that cannot be listed now says nothing about the files in it.
  const hidden = scan.failures.map(({ path }) => (path === '.' ? '' : `${path}/`));
  const gone = [...known.values()].filter(
    ({ path }) =>
      !present.has(path) && !hidden.some((folder) => path.startsWith(folder) || `${path}/` === folder),
  );
  const vanished = gone.filter(({ path }) => !excluded.has(path)).length;
  if (scan.files.length === 0 && vanished > 0) throw emptyRootError(root, vanished);

  const renames = findRenames(
    gone,
    queue.filter(({ path }) => !known.has(path)),
  );
  const renamedIds = new Set(renames.map(({ id }) => id));
  const renamedPaths = new Set(renames.map(({ file }) => file.path));
  const removed = gone.filter(({ id }) => !renamedIds.has(id));
  const queued = queue.filter(({ path }) => !renamedPaths.has(path));
  for (const { id } of removed) await removeDocument(catalogue, id, signal);
  // Read again, whatever its name: another file may have the same size and time. For the same bytes, the derived data is kept.
  await inBatches(
    catalogue,
    renames,
    ({ id, file }) => {
      catalogue.documents.rename(id, facts(file));
      catalogue.documents.queueFile(root.libraryId, root.id, facts(file));
    },
    signal,
  );
  await inBatches(
    catalogue,
    queued,
    (file) => catalogue.documents.queueFile(root.libraryId, root.id, facts(file)),
    signal,
  );
  return {
    files: files.length,
    queued: queued.length,
    removed: removed.length,
    renamed: renames.length,
    failures: [...scan.failures, ...onlineFailure(online.filter(({ path }) => !known.has(path)))],
    skipped: scan.skipped,
  };
}

/** Number of file names in one sentence; further ones are only counted. */
const NAMED = 3;

function onlineFailure(files: readonly SkippedFile[]): DocumentFailure[] {
  const [first] = files;
  if (!first) return [];
  const names = files.slice(0, NAMED).map(({ path }) => path);
  const more = files.length > NAMED ? ` and ${files.length - NAMED} more` : '';
  const message = `Files that are only in the cloud are not read until you download them: ${names.join(', ')}${more}.`;
  return [{ path: first.path, code: 'DOCUMENT_UNREADABLE', message }];
}

/** Uploads whose deletion was interrupted by a crash: their documents were excluded, and Kvasir owns the files. */
async function deleteExcluded(files: readonly ScannedFile[], excluded: ReadonlySet<string>): Promise<void> {
  for (const { path, absolutePath } of files) if (excluded.has(path)) await rm(absolutePath, { force: true });
}

/** A drive that is not mounted leaves an empty folder: the user decides whether to remove the documents. */
function emptyRootError({ kind, path }: RootRow, documents: number): KvasirError {
  const what = kind === 'file' ? `The file ${path} is gone` : `There are no documents in ${path} any more`;
  const kept = documents === 1 ? 'its text is kept' : `the text of all ${documents} is kept`;
  return new KvasirError(
    'LIBRARY_EMPTY',
    `${what}; ${kept}.`,
    'Connect the drive or put the files back; if they were deleted on purpose, remove this source from the library.',
  );
}

/** Size and time are trusted, unless the file was written so shortly before it was read that both could stay the same. */
function needsReading(file: ScannedFile, known: KnownFile | undefined, retryFailed: boolean): boolean {
  if (!known) return true;
  const unchanged = file.bytes === known.bytes && file.mtimeMs === known.mtimeMs;
  if (known.phase === 'waiting') return !unchanged; // is to be read anyway, but may be being read right now
  if (known.phase === 'failed' && retryFailed) return true;
  return !unchanged || Math.abs(known.seenMs - known.mtimeMs) <= MTIME_GRANULARITY_MS;
}

/**
 * A deleted file and a new one of the same size and time are probably the same file, if no other matches: it keeps its document, and
 * reading it verifies that.
 */
function findRenames(
  gone: readonly KnownFile[],
  added: readonly ScannedFile[],
): { id: number; file: ScannedFile }[] {
  const looks = (file: { bytes: number; mtimeMs: number }): string => `${file.bytes} ${file.mtimeMs}`;
  const goneBy = Map.groupBy(gone, looks);
  return [...Map.groupBy(added, looks)].flatMap(([look, [file, ...others]]) => {
    const [old, ...otherOld] = goneBy.get(look) ?? [];
    return file && old && old.bytes > 0 && others.length + otherOld.length === 0 && old.phase !== 'waiting'
      ? [{ id: old.id, file }]
      : [];
  });
}

async function scanFile(path: string): Promise<Scan> {
  const info = await stat(path).catch(() => undefined);
  if (!info?.isFile()) return { files: [], failures: [], skipped: [] };
  const file = { path: basename(path), absolutePath: path, bytes: info.size, mtimeMs: info.mtimeMs };
  return { files: [file], failures: [], skipped: [] };
}

async function knownFiles(
  catalogue: Catalogue,
  rootId: number,
  signal: AbortSignal | undefined,
): Promise<Map<string, KnownFile>> {
  const known = new Map<string, KnownFile>();
  for (let after = ''; ;) {
    const rows = catalogue.documents.knownFiles(rootId, after, BATCH);
    for (const row of rows) known.set(row.path, row);
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return known;
    after = last.path;
    await yieldToEventLoop();
    throwIfAborted(signal);
  }
}

/** Many rows in few transactions, with time for other work between them. */
async function inBatches<T>(
  catalogue: Catalogue,
  rows: readonly T[],
  change: (row: T) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let start = 0; start < rows.length; start += BATCH) {
    throwIfAborted(signal);
    catalogue.transaction(() => rows.slice(start, start + BATCH).forEach(change));
    await yieldToEventLoop();
  }
}

function facts({ path, bytes, mtimeMs }: ScannedFile): {
  path: string;
  format: string;
  bytes: number;
  mtimeMs: number;
} {
  return { path, format: formatOf(path), bytes, mtimeMs };
}
