import { open, type FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Catalogue } from '../catalogue/catalogue.ts';
import type { DocumentRow } from '../catalogue/document-table.ts';
import type { LibraryRow, RootRow } from '../catalogue/library-table.ts';
import { filePath } from '../library/queue/reader.ts';
import { csvLine } from '../platform/csv.ts';
import { diskPath } from '../platform/disk-path.ts';
import { messageOf } from '../platform/failure.ts';
import { jsonEntry, textEntry, type ExportEntry } from './entry.ts';
import type { ExportNames } from './names.ts';

/** Columns of documents.csv. */
const COLUMNS = [
  ...['path', 'title', 'format', 'bytes', 'modified', 'sha256', 'address', 'fetched'],
  ...['original', 'text', 'note'],
];

/** Called with a document whose original file is not in the export, or only in part, and the reason. */
type OnIncomplete = (path: string, reason: string) => void;

/**
 * Every library: its folders, the original files of its documents as they are now, and their text as it was read. Documents that are added
 * meanwhile may be missing. A file that cannot be read is left out; documents.csv says why.
 */
export async function* libraryEntries(
  catalogue: Catalogue,
  names: ExportNames,
  onIncomplete: OnIncomplete,
): AsyncGenerator<ExportEntry> {
  for (const library of catalogue.libraries.list())
    yield* entriesOf(library, { catalogue, names, onIncomplete });
}

interface Context {
  catalogue: Catalogue;
  names: ExportNames;
  onIncomplete: OnIncomplete;
}

async function* entriesOf(library: LibraryRow, context: Context): AsyncGenerator<ExportEntry> {
  const { catalogue, names } = context;
  const folder = names.free('libraries', library.name.replaceAll('/', '_') || 'library');
  const rows = [csvLine(COLUMNS)];
  const roots = catalogue.libraries.roots(library.id).map((root) => ({ root, name: nameOf(root) }));
  for (const { root, name } of roots) {
    for (const id of catalogue.documents.idsOfRoot(root.id)) {
      const document = catalogue.documents.get(id);
      if (document) rows.push(yield* documentEntries(document, { folder, root: name }, context));
    }
  }
  yield textEntry(`${folder}/documents.csv`, rows);
  yield jsonEntry(`${folder}/library.json`, {
    kvasirLibrary: 1,
    name: library.name,
    sample: library.sample,
    sources: roots.map(({ root: { id, kind, path, watched }, name }) => ({
      ...{ kind, path, watched, folder: name },
      excluded: [...catalogue.libraries.excluded(id)],
    })),
  });
}

/** The folder for a root's documents. Roots that are single files share one. */
function nameOf({ id, kind, path }: RootRow): string {
  if (kind === 'file') return 'files';
  return kind === 'managed' ? 'uploads' : `${basename(path) || 'folder'}-${id}`;
}

/** Returns the document's line of documents.csv. */
async function* documentEntries(
  document: DocumentRow,
  { folder, root }: { folder: string; root: string },
  { catalogue, names, onIncomplete }: Context,
): AsyncGenerator<ExportEntry, string> {
  const { id, path, title, format, bytes, mtimeMs, sha256, address, textLength } = document;
  let note = '';
  const incomplete = (reason: string): void => {
    note = reason;
    onIncomplete(path, reason);
  };
  const file = await opened(() => filePath(catalogue, document), incomplete);
  const original = file && names.free(`${folder}/originals`, `${root}/${path}`);
  if (file && original !== undefined)
    try {
      yield { name: original, content: bytesOf(file, incomplete), isText: false };
    } finally {
      await file.close(); // nobody may have read it
    }
  const text = textLength === null ? undefined : names.free(`${folder}/text`, `${root}/${path}.txt`);
  if (text !== undefined) yield textEntry(text, wholeCharacters(catalogue.texts.blocks(id)));
  const fetchedMs = address === null ? null : (catalogue.documentList.get(id, undefined)?.fetchedMs ?? null);
  return csvLine([
    ...[path, title, format, bytes, isoTime(mtimeMs), sha256, address, isoTime(fetchedMs)],
    ...[original, text, note],
  ]);
}

function isoTime(ms: number | null): string | null {
  return ms !== null && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : null;
}

async function opened(
  path: () => string,
  incomplete: (reason: string) => void,
): Promise<FileHandle | undefined> {
  try {
    const file = await open(diskPath(path()), 'r');
    if ((await file.stat()).isFile()) return file;
    await file.close();
    incomplete('The original is no longer a file.');
  } catch (error) {
    incomplete(`The original could not be read: ${messageOf(error)}`);
  }
  return undefined;
}

/** Ends early where the file cannot be read on. */
async function* bytesOf(
  file: FileHandle,
  incomplete: (reason: string) => void,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  try {
    for await (const part of file.createReadStream() as AsyncIterable<Buffer>) {
      bytes += part.length;
      yield part;
    }
  } catch (error) {
    incomplete(`The original could only be read up to byte ${bytes}: ${messageOf(error)}`);
  }
}

/** Moves the first half of a surrogate pair that two blocks share to the second block: halves cannot be encoded as UTF-8. */
function* wholeCharacters(blocks: Iterable<string>): Generator<string> {
  let half = '';
  for (const block of blocks) {
    const text = half + block;
    const end = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
    half = text.slice(end);
    yield text.slice(0, end);
  }
  if (half !== '') yield half;
}
