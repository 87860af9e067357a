import { statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { ChunkHeader } from '../engine/engine.ts';
import { messageOf } from '../platform/failure.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import { rowOf, type ChunkDisk } from './disk.ts';
import { codeOf } from './errors.ts';
import { chunkFileName, fanOut, parseChunkFileName, type StoreFs } from './files.ts';
import { OWN_FOLDER, type ChunkFolder } from './folders.ts';
import { kindOf } from './hash.ts';
import type { ChunkFiles, RecoveryReport } from './types.ts';

type Findings = Omit<RecoveryReport, 'evicted' | 'unlisted' | 'indexSetAside' | 'indexBackup' | 'ms'>;

interface FoundFile {
  path: string;
  bytes: number;
  key: string;
  formatVersion: number;
}

interface ReconcileOptions {
  /** Default: the store's own. */
  folder?: ChunkFolder;
  /** Runs a task that changes files or rows, one after another. */
  run?: <T>(task: () => Promise<T>) => Promise<T>;
  /** The rows are right; files without a row may follow. */
  onTrusted?: () => void;
}

const LISTING = { isLong: true };

/**
 * Makes a folder's files and rows consistent after a crash, a rebuilt index or outside changes. docs/formats/store.md
 * lists the steps. Rows whose file has the right size are trusted: contents are verified when they are read.
 */
export async function reconcile(
  disk: ChunkDisk,
  files: ChunkFiles,
  fs: StoreFs,
  { folder = disk.folders.own, run = (task) => task(), onTrusted }: ReconcileOptions = {},
): Promise<Findings> {
  const findings: Findings = {
    tempFilesRemoved: 0,
    adopted: 0,
    duplicatesRemoved: 0,
    rowsDropped: 0,
    quarantined: [],
    newerFormat: [],
    ignored: [],
  };
  await removeTemporaries(disk, folder, fs, findings);
  const found = await scan(disk, folder, findings);
  const strays = await run(async () => {
    const without = await checkRows(disk, folder, found, findings);
    onTrusted?.();
    return without;
  });
  // The newest format first, so that of two files with one key the older is the duplicate.
  strays.sort((a, b) => b.formatVersion - a.formatVersion);
  const slice = new TimeSlice(); // a folder that was used before may have thousands
  for (const file of strays) {
    await slice.step();
    await run(() => settleStray(disk, folder, files, fs, file, findings));
  }
  disk.index.forgetDeletions(folder.id);
  return findings;
}

async function removeTemporaries(
  disk: ChunkDisk,
  folder: ChunkFolder,
  fs: StoreFs,
  findings: Findings,
): Promise<void> {
  const { tmp } = folder.layout;
  for (const entry of await folder.within(readdir(tmp, { withFileTypes: true }), LISTING)) {
    const path = join(tmp, entry.name);
    if (entry.isDirectory()) {
      findings.ignored.push(disk.shown(path)); // the store creates none there
    } else {
      await fs.unlink(path);
      findings.tempFilesRemoved++;
    }
  }
}

/** All chunk files by name; unknown items are recorded and left alone. */
async function scan(
  disk: ChunkDisk,
  folder: ChunkFolder,
  findings: Findings,
): Promise<Map<string, FoundFile>> {
  const found = new Map<string, FoundFile>();
  const slice = new TimeSlice();
  const { chunks } = folder.layout;
  for (const entry of await folder.within(readdir(chunks, { withFileTypes: true }), LISTING)) {
    const dir = join(chunks, entry.name);
    if (!entry.isDirectory()) {
      findings.ignored.push(disk.shown(dir));
      continue;
    }
    const { files, others } = await folder.within(list(dir, entry.name, folder.id, slice), LISTING);
    for (const [name, file] of files) found.set(name, file);
    for (const path of others) findings.ignored.push(disk.shown(path));
  }
  return found;
}

/** The chunk files in one of the folders for them, by name, and what else is there. join() would take as long as the rest. */
async function list(
  dir: string,
  prefix: string,
  id: string,
  slice: TimeSlice,
): Promise<{ files: [string, FoundFile][]; others: string[] }> {
  const files: [string, FoundFile][] = [];
  const others: string[] = [];
  for (const file of await readdir(dir, { withFileTypes: true })) {
    const path = dir + sep + file.name;
    const parsed = parseChunkFileName(file.name);
    if (file.isFile() && parsed && fanOut(parsed.key) === prefix) {
      // A synchronous stat takes a tenth of the time, but the drive of an added folder may hang.
      const { size: bytes } = id === OWN_FOLDER ? statSync(path) : await stat(path);
      files.push([file.name, { path, bytes, ...parsed }]);
    } else {
      others.push(path);
    }
    await slice.step();
  }
  return { files, others };
}

/** Drops or quarantines rows that contradict their file; returns the files without a row. */
async function checkRows(
  disk: ChunkDisk,
  folder: ChunkFolder,
  found: Map<string, FoundFile>,
  findings: Findings,
): Promise<FoundFile[]> {
  for await (const row of disk.index.all()) {
    if (row.folder !== folder.id) continue;
    const name = chunkFileName(row.key, row.formatVersion);
    const file = found.get(name);
    if (!file) {
      disk.dropRow(row.key);
      findings.rowsDropped++;
      continue;
    }
    found.delete(name);
    if (file.bytes === row.bytes) continue;
    const reason = `it has ${file.bytes} bytes where the index says ${row.bytes}`;
    findings.quarantined.push({ file: disk.shown(file.path), reason });
    await disk.discardRow(row, reason);
  }
  return [...found.values()];
}

/** Adopts a file without a row if its header shows that it is complete and in the right place. */
async function settleStray(
  disk: ChunkDisk,
  folder: ChunkFolder,
  files: ChunkFiles,
  fs: StoreFs,
  file: FoundFile,
  findings: Findings,
): Promise<void> {
  const listed = disk.index.get(file.key);
  if (listed && disk.path(listed) === file.path) return; // stored meanwhile
  if (disk.index.isDeleted(folder.id, file.key)) {
    await fs.unlink(file.path);
    return;
  }
  let header: ChunkHeader;
  try {
    header = await folder.within(files.readChunkHeader(file.path));
  } catch (error) {
    if (codeOf(error) === 'CHUNK_VERSION') {
      await disk.noteNewer(file.path);
      findings.newerFormat.push(disk.shown(file.path));
      return;
    }
    if (codeOf(error) === 'CHUNK_UNREADABLE') {
      disk.log.warn('A chunk file cannot be read now.', { file: file.path, error: messageOf(error) });
      return;
    }
    if (codeOf(error) !== 'CHUNK_CORRUPT') throw error;
    return quarantineStray(disk, file, messageOf(error), findings);
  }
  const fault = faultOf(header, file);
  if (fault) return quarantineStray(disk, file, fault, findings);
  if (disk.row(file.key)) {
    await fs.unlink(file.path);
    findings.duplicatesRemoved++;
    return;
  }
  const made = { now: disk.clock(), order: disk.index.nextOrder(), folder: folder.id };
  if (listed?.formatVersion === file.formatVersion) disk.index.setFolder(listed, folder.id); // it was not connected
  else {
    if (listed) disk.index.remove([file.key]);
    disk.index.insert(rowOf(file.key, header, file.bytes, made));
  }
  findings.adopted++;
}

/** Why a header does not match a file's key, version and size; undefined if it does. */
export function faultOf(
  header: ChunkHeader,
  file: { key: string; formatVersion: number; bytes: number },
): string | undefined {
  if (header.fileBytes !== file.bytes)
    return `its header says ${header.fileBytes} bytes, but it has ${file.bytes}`;
  if (header.version !== file.formatVersion) return 'its header and its name give different format versions';
  if (!kindOf(header, file.key)) return 'its contents belong to another key';
  return undefined;
}

async function quarantineStray(
  disk: ChunkDisk,
  file: FoundFile,
  reason: string,
  findings: Findings,
): Promise<void> {
  const name = disk.shown(file.path);
  disk.log.warn('A chunk file without an entry is corrupt and was quarantined.', { file: name, reason });
  findings.quarantined.push({ file: name, reason });
  await disk.quarantine(file.path);
}
