import { throwIfAborted } from '../platform/abort.ts';
import type { ChunkKv } from '../engine/engine.ts';
import { messageOf } from '../platform/failure.ts';
import type { SerialQueue } from '../platform/serial-queue.ts';
import type { ChunkDisk } from './disk.ts';
import { codeOf } from './errors.ts';
import type { ChunkRow } from './index-db.ts';
import type { EvictionCandidate } from './eviction/policy.ts';
import type { Access, Workload } from './eviction/workload.ts';
import { openRow } from './open-chunk.ts';
import type { OpenChunk, RamTier } from './ram-tier.ts';
import type { SharedChunks } from './shared-chunks.ts';
import { UseCounts } from './use-counts.ts';
import type { ChunkFiles, ChunkOpener, Lease, LeaseSet, PrefetchRoom } from './types.ts';
import { exists, type Fault } from './verify.ts';

interface ChunkLeasesParts {
  disk: ChunkDisk;
  ramTier: RamTier;
  files: ChunkFiles;
  workload: Workload;
  shared: SharedChunks | undefined;
  /** Serialises everything that changes files or rows. */
  changes: SerialQueue;
  /** A chunk is used from its file. */
  onFileUse: (key: string, folder: string) => void;
}

/** Class of uses outside of requests. */
const OTHER = 'other';

export type PrefetchOutcome = 'in-memory' | 'no-room' | 'missing';

/** Hands out leases: from memory, else from the file; a bad file is a miss and is quarantined. */
export class ChunkLeases {
  /** Entries that are leased, being opened or being verified: must not be evicted. */
  readonly inUse = new UseCounts();
  readonly leases = new UseCounts();
  readonly counts = { ram: 0, disk: 0, misses: 0, prefetched: 0, prefetchHits: 0 };
  readonly #parts: ChunkLeasesParts;
  readonly #prefetches = new Set<Promise<unknown>>();

  constructor(parts: ChunkLeasesParts) {
    this.#parts = parts;
  }

  acquire(key: string, opener: ChunkOpener, access: Access): Promise<Lease | undefined> {
    return this.holding(key, async () => {
      const openChunk = await this.#openChunk(key, opener);
      if (openChunk) return this.#use(openChunk, access);
      const { workload, disk, shared } = this.#parts;
      const lease = await shared?.lease(key, opener);
      if (!lease) this.counts.misses++;
      workload.used(key, access, disk.clock());
      return lease;
    });
  }

  /** A use of a chunk that is not read. */
  used(key: string, access: Access): void {
    const { disk } = this.#parts;
    const row = disk.row(key);
    const use = this.#useOf(key, access);
    if (row) disk.index.use(row, use, 0);
  }

  async borrow<T>(
    key: string,
    opener: ChunkOpener,
    task: (chunk: ChunkKv) => Promise<T>,
  ): Promise<T | undefined> {
    return this.holding(key, async () => {
      const { disk } = this.#parts;
      const opened = await this.#opened(key, opener);
      if (!opened) return undefined;
      const { row, chunk } = opened;
      try {
        const done = await task(chunk);
        const use = { class: OTHER, lastUsedAt: disk.clock(), order: disk.index.nextOrder(), offset: 0 };
        disk.index.use(row, use);
        return done;
      } catch (error) {
        const isCorrupt = ['CHUNK_CORRUPT', 'CHUNK_MISMATCH'].includes(codeOf(error));
        if (!isCorrupt && codeOf(error) !== 'CHUNK_UNREADABLE') throw error;
        await this.#settleQuietly(key, {
          kind: isCorrupt ? 'corrupt' : 'unreadable',
          reason: messageOf(error),
        });
        return undefined;
      } finally {
        chunk.dispose();
      }
    });
  }

  async acquireMany(
    keys: Iterable<string>,
    opener: ChunkOpener,
    signal: AbortSignal | undefined,
  ): Promise<LeaseSet> {
    const leases = new Map<string, Lease>();
    const release = (): void => leases.forEach((lease) => lease.release());
    try {
      for (const key of new Set(keys)) {
        throwIfAborted(signal);
        const lease = await this.holding(key, () => this.#promoted(key, opener));
        if (lease) leases.set(key, lease);
      }
    } catch (error) {
      release();
      throw error;
    }
    return { leases, release };
  }

  prefetch(key: string, opener: ChunkOpener, room: PrefetchRoom): Promise<PrefetchOutcome> {
    const work = this.holding(key, () => this.#prefetch(key, opener, room));
    this.#prefetches.add(work);
    return work.finally(() => this.#prefetches.delete(work));
  }

  async forget(opener: object): Promise<void> {
    if (this.#parts.shared) await this.#parts.shared.forget(opener);
    await Promise.allSettled(this.#prefetches);
    await this.#parts.ramTier.forget(opener);
  }

  /** Protects an entry from eviction while a task runs. */
  async holding<T>(key: string, task: () => Promise<T>): Promise<T> {
    this.inUse.hold(key);
    try {
      return await task();
    } finally {
      this.inUse.release(key);
    }
  }

  /** Handles a fault found in a file. */
  settle(key: string, fault: Fault): Promise<void> {
    if (fault.kind === 'corrupt') return this.discard(key, fault.reason);
    const { changes, disk, ramTier } = this.#parts;
    return changes.run(async () => {
      const row = disk.row(key);
      if (!row) return;
      ramTier.drop(key);
      // It may have moved to another folder, or gone with its drive.
      if (fault.kind === 'missing' && (await disk.isStillThere(row)) && !(await exists(disk.path(row))))
        disk.dropRow(key);
      if (fault.kind === 'newer') await disk.setNewerAside(row);
      if (fault.kind === 'unreadable') {
        disk.log.warn('A chunk file cannot be read now.', { key, error: fault.reason });
        await disk.isStillThere(row);
      }
    });
  }

  discard(key: string, reason: string): Promise<void> {
    const { changes, disk, ramTier } = this.#parts;
    return changes.run(() => {
      ramTier.drop(key);
      return disk.discard(key, reason);
    });
  }

  async onPullFailed(key: string, error: unknown): Promise<void> {
    try {
      if (codeOf(error) !== 'CHUNK_CORRUPT') throw error;
      await this.discard(key, messageOf(error));
    } catch (failure) {
      this.#warn('A chunk could not be read into memory.', key, failure);
    }
  }

  #warn(message: string, key: string, error: unknown): void {
    this.#parts.disk.log.warn(message, { key, error: messageOf(error) });
  }

  /** On a full disk the fault cannot be recorded; it is a miss all the same. */
  async #settleQuietly(key: string, fault: Fault): Promise<void> {
    await this.settle(key, fault).catch((error: unknown) =>
      this.#warn('A bad chunk is still listed.', key, error),
    );
  }

  /** The open chunk of a key, leased; opened if necessary. */
  async #openChunk(key: string, opener: ChunkOpener): Promise<OpenChunk | undefined> {
    const { disk, ramTier } = this.#parts;
    const open = await ramTier.lease(key, opener);
    if (open) return open;
    const opened = await this.#opened(key, opener);
    if (!opened) return undefined;
    if (disk.row(key)) return ramTier.add(opened.row, opener, opened.chunk);
    opened.chunk.dispose(); // quarantined while it was being opened
    return undefined;
  }

  /** The chunk of a listed file, which the caller must dispose; a bad file is quarantined. */
  async #opened(key: string, opener: ChunkOpener): Promise<{ row: ChunkRow; chunk: ChunkKv } | undefined> {
    const { disk, files } = this.#parts;
    const row = disk.row(key);
    if (!row) return undefined;
    const opened = await openRow(disk, files, row, opener);
    if (opened.kind === 'ok') return { row, chunk: opened.chunk };
    const hasMoved = opened.kind === 'missing' && (disk.row(key)?.folder ?? row.folder) !== row.folder;
    if (hasMoved) return this.#opened(key, opener);
    await this.#settleQuietly(key, opened);
    return undefined;
  }

  async #promoted(key: string, opener: ChunkOpener): Promise<Lease | undefined> {
    const { ramTier } = this.#parts;
    const openChunk = await this.#openChunk(key, opener);
    if (!openChunk) return undefined;
    if (await ramTier.promote(openChunk)) return this.#lease(openChunk);
    ramTier.release(openChunk);
    return undefined;
  }

  async #prefetch(key: string, opener: ChunkOpener, room: PrefetchRoom): Promise<PrefetchOutcome> {
    const { disk, ramTier, workload } = this.#parts;
    const row = disk.row(key);
    if (!row) return 'missing';
    if (ramTier.isInRam(key)) return 'in-memory';
    if (room === 'free' && !ramTier.hasRoom(row)) return 'no-room';
    const openChunk = await this.#openChunk(key, opener);
    if (!openChunk) return 'missing';
    // An expected use: its value is that of past predictions.
    if (room === 'made') {
      const now = disk.clock();
      const { offset } = openChunk;
      const expected = { class: workload.expected(now), lastUsedAt: now, order: disk.index.nextOrder() };
      ramTier.use(openChunk, { ...expected, offset });
    }
    if (!(await ramTier.prefetch(openChunk, room))) return disk.row(key) ? 'no-room' : 'missing';
    this.counts.prefetched++;
    return 'in-memory';
  }

  #use(openChunk: OpenChunk, access: Access): Lease {
    const { disk, ramTier, workload } = this.#parts;
    const { key, prefetchedAt } = openChunk;
    const lease = this.#lease(openChunk);
    const now = disk.clock();
    this.counts[openChunk.ramBytes > 0 ? 'ram' : 'disk']++;
    if (openChunk.ramBytes === 0) this.#parts.onFileUse(key, openChunk.folder);
    if (lease.prefetched) this.counts.prefetchHits++;
    if (prefetchedAt !== undefined) workload.cameTrue(openChunk, now);
    openChunk.prefetchedAt = undefined;
    const use = this.#useOf(key, access);
    ramTier.use(openChunk, use);
    disk.index.use(openChunk, use);
    return lease;
  }

  #useOf(key: string, access: Access): EvictionCandidate {
    const { disk, workload } = this.#parts;
    const now = disk.clock();
    return {
      class: workload.used(key, access, now, disk.row(key)),
      lastUsedAt: now,
      order: disk.index.nextOrder(access.request),
      offset: access.offset ?? 0,
    };
  }

  #lease(openChunk: OpenChunk): Lease {
    const { key, folder, chunk, ramBytes, prefetchedAt } = openChunk;
    this.inUse.hold(key);
    this.leases.hold(key);
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      this.leases.release(key);
      this.inUse.release(key);
      this.#parts.ramTier.release(openChunk);
    };
    const tier = ramBytes > 0 ? 'ram' : 'disk';
    return { key, chunk, tier, folder, bytes: chunk.bytes, prefetched: prefetchedAt !== undefined, release };
  }
}
