import { statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChunkHeader } from '../engine/engine.ts';
import { messageOf } from '../platform/failure.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import { rowOf, type ChunkDisk } from './disk.ts';
import { codeOf } from './errors.ts';
import { parseChunkFileName, type StoreFs } from './files.ts';
import { kindOf } from './hash.ts';
import type { ChunkFiles, RecoveryReport } from './types.ts';

type Findings = Omit<RecoveryReport, 'evicted' | 'indexSetAside' | 'indexBackup' | 'ms'>;

interface FoundFile {
  path: string;
  bytes: number;
  key: string;
  formatVersion: number;
}

/**
 * Makes files and rows agree after a crash, a rebuilt index or a meddling hand. docs/formats/store.md lists the steps.
 * Rows whose file has the right size are taken as they are: contents are checked when they are read.
 */
export async function reconcile(disk: ChunkDisk, files: ChunkFiles, fs: StoreFs): Promise<Findings> {
  const findings: Findings = {
    tempFilesRemoved: 0,
    adopted: 0,
    duplicatesRemoved: 0,
    rowsDropped: 0,
    quarantined: [],
    newerFormat: [],
    ignored: [],
  };
  await removeTemporaries(disk, fs, findings);
  const found = await scan(disk, findings);
  const strays = await checkRows(disk, found, findings);
  // The newest format first, so that of two files with one key the older is the duplicate.
  strays.sort((a, b) => b.formatVersion - a.formatVersion);
  for (const file of strays) await settleStray(disk, files, fs, file, findings);
  return findings;
}

async function removeTemporaries(disk: ChunkDisk, fs: StoreFs, findings: Findings): Promise<void> {
  const { tmp } = disk.layout;
  for (const entry of await readdir(tmp, { withFileTypes: true })) {
    const path = join(tmp, entry.name);
    if (entry.isDirectory()) {
      findings.ignored.push(disk.layout.relative(path)); // the store makes none there
    } else {
      await fs.unlink(path);
      findings.tempFilesRemoved++;
    }
  }
}

/** Every chunk file by path; what the store would not have put there is noted and left alone. */
async function scan(disk: ChunkDisk, findings: Findings): Promise<Map<string, FoundFile>> {
  const { layout } = disk;
  const found = new Map<string, FoundFile>();
  const slice = new TimeSlice();
  for (const folder of await readdir(layout.chunks, { withFileTypes: true })) {
    const dir = join(layout.chunks, folder.name);
    if (!folder.isDirectory()) {
      findings.ignored.push(layout.relative(dir));
      continue;
    }
    for (const file of await readdir(dir, { withFileTypes: true })) {
      const path = join(dir, file.name);
      const parsed = parseChunkFileName(file.name);
      if (file.isFile() && parsed && layout.chunkDir(parsed.key) === dir) {
        found.set(path, { path, bytes: statSync(path).size, ...parsed });
      } else {
        findings.ignored.push(layout.relative(path));
      }
      await slice.step(); // asking for a size at once takes a tenth of what waiting for it does
    }
  }
  return found;
}

/** Drops or quarantines what a row's file contradicts; gives the files without a row. */
async function checkRows(
  disk: ChunkDisk,
  found: Map<string, FoundFile>,
  findings: Findings,
): Promise<FoundFile[]> {
  for await (const row of disk.index.all()) {
    const file = found.get(disk.path(row));
    if (!file) {
      disk.dropRow(row.key);
      findings.rowsDropped++;
      continue;
    }
    found.delete(file.path);
    if (file.bytes === row.bytes) continue;
    const reason = `it has ${file.bytes} bytes where the index says ${row.bytes}`;
    findings.quarantined.push({ file: disk.layout.relative(file.path), reason });
    await disk.discard(row.key, reason);
  }
  return [...found.values()];
}

/** A file without a row is adopted when its header shows that it is whole and in its place. */
async function settleStray(
  disk: ChunkDisk,
  files: ChunkFiles,
  fs: StoreFs,
  file: FoundFile,
  findings: Findings,
): Promise<void> {
  let header: ChunkHeader;
  try {
    header = files.readChunkHeader(file.path);
  } catch (error) {
    if (codeOf(error) === 'CHUNK_VERSION') {
      await disk.noteNewer(file.path);
      findings.newerFormat.push(disk.layout.relative(file.path));
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
  const made = { now: disk.clock(), order: disk.index.nextOrder() };
  disk.index.insert(rowOf(file.key, header, file.bytes, made));
  findings.adopted++;
}

/** Why a header does not belong to a file of this key, version and size; undefined when it does. */
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
  const name = disk.layout.relative(file.path);
  disk.log.warn('A chunk file without an entry is bad and was put in quarantine.', { file: name, reason });
  findings.quarantined.push({ file: name, reason });
  await disk.quarantine.take(file.path, disk.clock());
}
