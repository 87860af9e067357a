import { KvasirError } from '../../src-shared/errors.ts';
import type { ChunkKv } from '../engine/engine.ts';
import { messageOf } from '../platform/failure.ts';
import type { SerialQueue } from '../platform/serial-queue.ts';
import { rowOf, type ChunkDisk } from './disk.ts';
import type { EvictionPolicy } from './eviction/policy.ts';
import type { Workload } from './eviction/workload.ts';
import type { StoreFs } from './files.ts';
import { enter } from './find-similar.ts';
import type { FolderTiers } from './folder-tiers.ts';
import { OWN_FOLDER, type ChunkFolder } from './folders.ts';
import { isKey } from './hash.ts';
import type { ChunkRow } from './index-db.ts';
import { requireSpace } from './reserve.ts';
import type { SharedChunks } from './shared-chunks.ts';
import type { ChunkFiles, EntryKind, PutMeta } from './types.ts';

interface ChunkWriterParts {
  disk: ChunkDisk;
  fs: StoreFs;
  files: ChunkFiles;
  tiers: FolderTiers;
  workload: Workload;
  shared: SharedChunks | undefined;
  policy: (kind: EntryKind) => EvictionPolicy;
  /** Serialises everything that changes files or rows. */
  changes: SerialQueue;
}

/** A chunk to store. */
interface NewChunk {
  key: string;
  /** Of its file, if known. */
  bytes: number | undefined;
  meta: PutMeta;
  /** Writes the file; returns its size in bytes, and a callback for when it is stored. */
  write: (temp: string) => Promise<{ bytes: number; onStored?: (row: ChunkRow) => void }>;
}

/** What put() needs of a chunk. */
export type SavableChunk = Pick<ChunkKv, 'save'> & Partial<Pick<ChunkKv, 'bytes'>>;

/** Of the largest chunk's file beyond its KV: 8,192 token ids and the tables of layers (docs/formats/chunk-kv.md). */
const HEADER_BYTES = 40_960;

/** Stores new chunks: in the folder that the tiers choose, or in the store's own if that one fails. */
export class ChunkWriter {
  readonly #parts: ChunkWriterParts;
  readonly #running = new Map<string, Promise<void>>();

  constructor(parts: ChunkWriterParts) {
    this.#parts = parts;
  }

  /** As ChunkStore.put(). */
  async put(key: string, chunk: SavableChunk, meta: PutMeta): Promise<void> {
    if (!isKey(key)) throw new TypeError('ChunkStore.put: key must come from chunkKey().');
    const bytes = chunk.bytes === undefined ? undefined : chunk.bytes + HEADER_BYTES;
    const { shared, disk } = this.#parts;
    // Prefixes are not shared between machines.
    const onStored = (row: ChunkRow): void => {
      if (row.kind === 'chunk') shared?.offer(key, disk.path(row));
    };
    const write = async (temp: string) => {
      const folder = disk.folders.holding(temp);
      const limit = { isLong: true, bytes, onLate: () => void disk.removeTemp(temp) };
      return { bytes: await folder.within(chunk.save(temp), limit), onStored };
    };
    return this.store({ key, bytes, meta, write });
  }

  /** As ChunkStore.hasRoom(). */
  hasRoom(bytes: number, key?: string): boolean {
    return this.#parts.tiers.hasRoom(bytes + HEADER_BYTES, this.#absentWorth(key));
  }

  /** Does nothing if the key exists. Two callers that store the same chunk concurrently write it once. */
  store(chunk: NewChunk): Promise<void> {
    const { key } = chunk;
    const running = this.#running.get(key);
    if (running) return running;
    const writing = this.#store(chunk).finally(() => this.#running.delete(key));
    this.#running.set(key, writing);
    return writing;
  }

  async #store(chunk: NewChunk): Promise<void> {
    const { disk, tiers } = this.#parts;
    const { key, bytes, meta } = chunk;
    if (this.#isStored(key, meta)) return;
    const worth = meta.ahead ? this.#absentWorth(key) : undefined;
    const folder = tiers.choose(bytes, worth);
    try {
      await this.#storeIn(folder, chunk);
    } catch (error) {
      if (folder.id === OWN_FOLDER) throw error;
      const problem = { folder: folder.layout.dir, error: messageOf(error) };
      disk.log.warn('A chunk could not be written to an added folder.', problem);
      await disk.isStillThere({ folder: folder.id });
      await this.#storeIn(disk.folders.own, chunk);
    }
  }

  async #storeIn(folder: ChunkFolder, { key, meta, write }: NewChunk): Promise<void> {
    const { disk, fs, files, tiers, workload, changes } = this.#parts;
    const temp = folder.layout.tempFile(key);
    try {
      await requireSpace(fs, folder.layout.dir);
      const { bytes, onStored } = await write(temp);
      const header = await folder.within(files.readChunkHeader(temp));
      await changes.run(async () => {
        if (!folder.isReady)
          throw new KvasirError(
            'STORE_READ_ONLY',
            `The cache folder ${folder.layout.dir} is no longer connected.`,
          );
        if (this.#isStored(key, meta)) return disk.removeTemp(temp); // its drive came back meanwhile
        const now = disk.clock();
        const made = {
          now,
          order: disk.index.nextOrder(),
          last: workload.stored(key, now),
          folder: folder.id,
          meta,
        };
        const row = rowOf(key, header, bytes, made);
        await tiers.makeRoom(row, meta.ahead ? this.#absentWorth(key) : undefined);
        await disk.commit(temp, row);
        if (row.kind === 'chunk') enter(disk, key, header.tokens);
        onStored?.(row);
      });
    } catch (error) {
      await disk.removeTemp(temp);
      throw error;
    }
  }

  /** Whether the key exists; if so, it is pinned as asked for. */
  #isStored(key: string, { pinned = false }: PutMeta): boolean {
    const { disk } = this.#parts;
    if (!disk.row(key)) return false;
    if (pinned) disk.index.setPinned(key, true);
    return true;
  }

  /** The worth of a chunk that is not stored; `key`: its earlier uses count. */
  #absentWorth(key?: string): number {
    const { workload, policy, disk } = this.#parts;
    const last = key === undefined ? undefined : workload.last(key);
    return policy('chunk').absent(last, disk.clock());
  }
}
