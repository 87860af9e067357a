import { createHash } from 'node:crypto';
import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Layout } from '../../src-main/kvstore/files.ts';
import { ChunkIndex } from '../../src-main/kvstore/index-db.ts';
import { openIndex } from '../../src-main/kvstore/open-index.ts';
import { MIGRATIONS } from '../../src-main/kvstore/schema.ts';
import { SimilarChunks } from '../../src-main/kvstore/similar.ts';
import { ChunkStore } from '../../src-main/kvstore/store.ts';
import type { ChunkFiles } from '../../src-main/kvstore/types.ts';
import { openDatabase } from '../../src-main/platform/database.ts';
import { randomFrom } from '../../src-main/testing/random.ts';
import { entry } from './eviction.ts';

const FORMAT_VERSION = 1;
const TOKENS = 512;
const VOCABULARY = 50_000;
const FILE_BYTES = 1_000_000;

/**
 * A store of this many chunks whose process was killed: three unfinished files, and one chunk without its file. Files are empty but for their
 * size, as opening a store reads none that its index knows. Returns a function that opens and closes it.
 */
export async function crashedStore(dir: string, entries: number): Promise<() => Promise<void>> {
  rmSync(dir, { recursive: true, force: true });
  const layout = new Layout(dir);
  mkdirSync(layout.chunks, { recursive: true });
  mkdirSync(layout.tmp);
  (await openIndex(layout.index, { now: 0, onFlushFailed: rethrow })).index.close();
  const database = openDatabase(layout.index, MIGRATIONS);
  const index = await ChunkIndex.open(database, rethrow);
  const similar = new SimilarChunks(database);
  const random = randomFrom(1);
  database.transaction(() => {
    for (let i = 0; i < entries; i++) {
      const key = createHash('sha256').update(String(i)).digest('hex');
      index.insert({ ...entry(i), key, bytes: FILE_BYTES, formatVersion: FORMAT_VERSION });
      similar.add(
        key,
        Int32Array.from({ length: TOKENS }, () => Math.floor(random() * VOCABULARY)),
      );
      if (i > 0) writeEmpty(layout, key);
    }
  });
  index.close();
  for (let i = 0; i < 3; i++) writeFileSync(join(layout.tmp, `unfinished-${i}`), '');
  return async () => {
    const budget = 2 * entries * FILE_BYTES;
    const store = await ChunkStore.open({ dir, diskBudgetBytes: budget, ramBudgetBytes: 0, files: NO_FILES });
    const { tempFilesRemoved, rowsDropped } = store.recovery;
    await store.close();
    if (tempFilesRemoved !== 3 || rowsDropped !== 1)
      throw new Error(`Removed ${tempFilesRemoved} files, dropped ${rowsDropped} entries.`);
  };
}

const NO_FILES: ChunkFiles = {
  readChunkHeader: () => rethrow(new Error('No file should be read.')),
  verifyChunk: () => rethrow(new Error('No file should be read.')),
};

function rethrow(error: unknown): never {
  throw error;
}

function writeEmpty(layout: Layout, key: string): void {
  mkdirSync(layout.chunkDir(key), { recursive: true });
  const file = openSync(layout.chunkFile(key, FORMAT_VERSION), 'w');
  ftruncateSync(file, FILE_BYTES);
  closeSync(file);
}
