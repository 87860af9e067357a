import { stat } from 'node:fs/promises';
import type { ChunkKv } from '../engine/engine.ts';
import type { ChunkDisk } from './disk.ts';
import { codeOf, isMissing, messageOf } from './errors.ts';
import { keyOf } from './hash.ts';
import type { ChunkRow } from './index-db.ts';
import { faultOf } from './reconcile.ts';
import type { ChunkFiles, ChunkOpener } from './types.ts';
import type { Verdict } from './verify.ts';

export type Opened = { kind: 'ok'; chunk: ChunkKv } | Exclude<Verdict, { kind: 'ok' }>;

/**
 * Opens a row's file for use, or says why it cannot be served. Layers are checked when they are read; what is checked
 * here is that the file is the one the row and the key mean. CHUNK_MISMATCH when it is, but the opener is another model.
 */
export async function openRow(
  disk: ChunkDisk,
  files: ChunkFiles,
  row: ChunkRow,
  opener: ChunkOpener,
): Promise<Opened> {
  const path = disk.path(row);
  let chunk: ChunkKv;
  try {
    const { size } = await stat(path);
    if (size !== row.bytes)
      return { kind: 'corrupt', reason: `it has ${size} bytes where the index says ${row.bytes}` };
    chunk = await opener.openChunk(path);
  } catch (error) {
    return explain(files, path, row, error);
  }
  const { fingerprint, prefixHash } = row;
  if (keyOf({ fingerprint, prefixHash, dtype: chunk.dtype, tokens: chunk.tokens }) === row.key)
    return { kind: 'ok', chunk };
  chunk.dispose();
  return { kind: 'corrupt', reason: 'its contents belong to another key' };
}

/** Tells the file's faults, which make a miss, from the caller's and the environment's, which are thrown. */
async function explain(
  files: ChunkFiles,
  path: string,
  row: ChunkRow,
  error: unknown,
): Promise<Exclude<Opened, { kind: 'ok' }>> {
  if (isMissing(error) || !(await exists(path))) return { kind: 'missing' };
  switch (codeOf(error)) {
    case 'CHUNK_VERSION':
      return { kind: 'newer' };
    case 'CHUNK_CORRUPT':
      return { kind: 'corrupt', reason: messageOf(error) };
    case 'CHUNK_MISMATCH': {
      const fault = faultOf(files.readChunkHeader(path), row);
      if (fault) return { kind: 'corrupt', reason: fault };
      throw error;
    }
    default:
      throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    (error: unknown) => !isMissing(error),
  );
}
