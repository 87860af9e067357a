import type { ChunkKv } from '../engine/engine.ts';
import { messageOf } from '../platform/failure.ts';
import type { ChunkDisk } from './disk.ts';
import { codeOf } from './errors.ts';
import { keyOf } from './hash.ts';
import type { ChunkRow } from './index-db.ts';
import { faultOf } from './reconcile.ts';
import type { ChunkFiles, ChunkOpener } from './types.ts';
import { blameFile, type Fault } from './verify.ts';

type OpenResult = { kind: 'ok'; chunk: ChunkKv } | Fault;

/**
 * Opens a row's file for use, or returns why it cannot be served. Layers are verified when they are read; this function
 * verifies that the file matches row and key. CHUNK_MISMATCH if it does, but the opener is another model.
 */
export async function openRow(
  disk: ChunkDisk,
  files: ChunkFiles,
  row: ChunkRow,
  opener: ChunkOpener,
): Promise<OpenResult> {
  const path = disk.path(row);
  let chunk: ChunkKv;
  try {
    const patienceMs = disk.folders.get(row.folder)?.patienceMs;
    chunk = await disk.within(row, opener.openChunk(path, patienceMs), { onLate: (late) => late.dispose() });
  } catch (error) {
    if (disk.isAway(row)) return { kind: 'unreadable', reason: messageOf(error) };
    if (codeOf(error) !== 'CHUNK_MISMATCH') return disk.within(row, blameFile(path, error));
    const fault = faultOf(await disk.within(row, files.readChunkHeader(path)), row);
    if (fault) return { kind: 'corrupt', reason: fault };
    throw error;
  }
  // The engine has compared the model; an intact file of the same model may still hold another chunk.
  const { fingerprint, prefixHash } = row;
  const key = keyOf({ fingerprint, prefixHash, dtype: chunk.dtype, tokens: chunk.tokens }, row.kind);
  if (key === row.key) return { kind: 'ok', chunk };
  chunk.dispose();
  return { kind: 'corrupt', reason: 'its contents belong to another key' };
}
