import { messageOf } from '../platform/failure.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import type { Logger } from '../platform/logger.ts';
import type { ChunkDisk } from './disk.ts';
import type { ChunkRow } from './index-db.ts';
import type { ChunkFiles, SimilarChunk, TextIdentity } from './types.ts';

/** Adds missing chunks: after a migration, a rebuilt index, a crash between a row and its fingerprints. */
export async function enterMissing(
  disk: ChunkDisk,
  files: ChunkFiles,
  isClosing: () => boolean = () => false,
): Promise<void> {
  const slice = new TimeSlice();
  for (const key of disk.similar.missing(disk.index.held('chunk').entries)) {
    await slice.step();
    if (isClosing()) return;
    const row = disk.row(key);
    const tokens = row && (await tokensOf(disk, files, row));
    if (tokens) enter(disk, key, tokens);
  }
}

/** Without fingerprints a chunk is still served, only not found for similar texts: no reason to fail. */
export function enter(disk: ChunkDisk, key: string, tokens: Int32Array): void {
  try {
    disk.similar.add(key, tokens);
  } catch (error) {
    warn(disk.log, 'The fingerprints of a chunk could not be stored.', key, error);
  }
}

/** The stored chunks that have most in common with an identity's tokens, and their tokens. */
export async function findSimilar(
  disk: ChunkDisk,
  files: ChunkFiles,
  id: TextIdentity,
  limit: number,
): Promise<SimilarChunk[]> {
  const found: SimilarChunk[] = [];
  for (const { key, shared } of disk.similar.find(id, limit)) {
    const row = disk.row(key);
    const tokens = row && (await tokensOf(disk, files, row));
    if (tokens) found.push({ key, tokens, shared });
  }
  return found;
}

/** From the file's header; an unreadable file is handled when it is leased. */
async function tokensOf(disk: ChunkDisk, files: ChunkFiles, row: ChunkRow): Promise<Int32Array | undefined> {
  try {
    return (await disk.within(row, files.readChunkHeader(disk.path(row)))).tokens;
  } catch (error) {
    warn(disk.log, 'The tokens of a chunk could not be read.', row.key, error);
    return undefined;
  }
}

function warn(log: Logger, message: string, key: string, error: unknown): void {
  log.warn(message, { key, error: messageOf(error) });
}
