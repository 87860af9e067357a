import { stat } from 'node:fs/promises';
import { KvasirError } from '../../src-shared/errors.ts';
import { messageOf } from '../platform/failure.ts';
import type { ChunkDisk } from './disk.ts';
import { codeOf, isMissing } from './errors.ts';
import { kindOf } from './hash.ts';
import type { ChunkRow } from './index-db.ts';
import { faultOf } from './reconcile.ts';
import type { ChunkFiles, VerifyProgress, VerifyReport } from './types.ts';

/** Possible faults of a row's file. */
export type Fault =
  | { kind: 'missing' }
  /** Written by a newer version. */
  | { kind: 'newer' }
  /** The system cannot read it now; it may be intact. */
  | { kind: 'unreadable'; reason: string }
  /** `reason`: what follows "the file is bad:". */
  | { kind: 'corrupt'; reason: string };

type Verdict = { kind: 'ok' } | Fault;

/** Reads a row's whole file and compares it with row and key. Changes nothing. */
async function examine(disk: ChunkDisk, files: ChunkFiles, row: ChunkRow): Promise<Verdict> {
  const path = disk.path(row);
  try {
    const fault = faultOf(await disk.within(row, files.readChunkHeader(path)), row);
    if (fault) return { kind: 'corrupt', reason: fault };
    await disk.within(row, files.verifyChunk(path), { bytes: row.bytes });
    return { kind: 'ok' };
  } catch (error) {
    if (disk.isAway(row)) return { kind: 'unreadable', reason: messageOf(error) };
    return disk.within(row, blameFile(path, error));
  }
}

/** Reads a whole file from elsewhere and verifies that it matches a chunk's key. CHUNK_CORRUPT, CHUNK_VERSION. */
export async function requireChunk(files: ChunkFiles, path: string, key: string): Promise<void> {
  await files.verifyChunk(path);
  if (kindOf(await files.readChunkHeader(path), key) === 'chunk') return;
  throw new KvasirError('CHUNK_CORRUPT', 'it is not the chunk that its key names');
}

/** The fault of the file that made reading fail; rethrows other errors. */
export async function blameFile(path: string, error: unknown): Promise<Fault> {
  if (codeOf(error) === 'CHUNK_VERSION') return { kind: 'newer' };
  // The engine reports a missing file like a corrupt one.
  if (!(await exists(path))) return { kind: 'missing' };
  if (codeOf(error) === 'CHUNK_CORRUPT') return { kind: 'corrupt', reason: messageOf(error) };
  if (!(await isFile(path))) return { kind: 'corrupt', reason: 'something else than a file is in its place' };
  if (codeOf(error) === 'CHUNK_UNREADABLE') return { kind: 'unreadable', reason: messageOf(error) };
  throw error;
}

/** Also true if it cannot be told. */
export function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => !isMissing(error),
  );
}

function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => true, // unknown
  );
}

interface VerifyHooks {
  /** Runs `task` with the entry protected from eviction. */
  holding: <T>(key: string, task: () => Promise<T>) => Promise<T>;
  settle: (row: ChunkRow, fault: Fault) => Promise<void>;
  isClosing: () => boolean;
}

/** Examines every entry in key order. Skips entries added or removed meanwhile. */
export async function verifyAll(
  disk: ChunkDisk,
  files: ChunkFiles,
  hooks: VerifyHooks,
  onProgress: (progress: VerifyProgress) => void,
): Promise<VerifyReport> {
  const report: VerifyReport = { checked: 0, ok: 0, bytes: 0, corrupt: [], missing: [], newerFormat: [] };
  const keys: string[] = [];
  for await (const { key } of disk.index.all()) keys.push(key);
  for (const [i, key] of keys.entries()) {
    if (hooks.isClosing())
      throw new KvasirError('ABORTED', 'The cache was closed while it was being checked.');
    await hooks.holding(key, async () => {
      const row = disk.row(key);
      if (!row) return;
      try {
        const verdict = await examine(disk, files, row);
        if (verdict.kind !== 'ok') await hooks.settle(row, verdict);
        enter(report, row, verdict);
      } catch (error) {
        // The system does not return the file (a bad sector, no permission to read): the others are checked all the
        // same.
        disk.log.warn('A chunk file could not be checked.', { key, error: messageOf(error) });
        enter(report, row, { kind: 'corrupt', reason: messageOf(error) });
      }
    });
    onProgress({ done: i + 1, total: keys.length, bytes: report.bytes });
  }
  return report;
}

function enter(report: VerifyReport, row: ChunkRow, verdict: Verdict): void {
  report.checked++;
  switch (verdict.kind) {
    case 'ok':
      report.ok++;
      report.bytes += row.bytes;
      break;
    case 'missing':
      report.missing.push(row.key);
      break;
    case 'newer':
      report.newerFormat.push(row.key);
      break;
    case 'corrupt':
    case 'unreadable':
      report.corrupt.push({ key: row.key, reason: verdict.reason });
      break;
  }
}
