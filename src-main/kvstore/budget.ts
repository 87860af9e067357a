import { KvasirError } from '../../src-shared/errors.ts';
import type { ChunkDisk } from './disk.ts';
import { chooseVictims, coverage, type Victims } from './evict.ts';
import type { ChunkRow } from './index-db.ts';
import type { EvictionPolicy } from './policy.ts';
import type { EvictReport, EvictRequest } from './types.ts';

export interface DiskBudgetOptions {
  /** Most bytes of chunk files. */
  bytes: number;
  policy: EvictionPolicy;
  /** Whether an entry must stay just now. */
  isInUse: (key: string) => boolean;
  /** Called before an entry's file is deleted. */
  onLeaving: (key: string) => void;
}

/**
 * Keeps the files within the budget.
 *
 * REQUIRES: its methods run one after another, with everything else that changes files or rows (the store's queue).
 */
export class DiskBudget {
  bytes: number;
  /** Entries evicted so far. */
  evictions = 0;
  readonly #disk: ChunkDisk;
  readonly #options: DiskBudgetOptions;

  constructor(disk: ChunkDisk, options: DiskBudgetOptions) {
    this.bytes = options.bytes;
    this.#disk = disk;
    this.#options = options;
  }

  /** Evicts so that `bytes` more fit. DISK_FULL, with nothing evicted, when pins and leases leave no way. */
  async makeRoom(bytes: number): Promise<void> {
    const { index } = this.#disk;
    const over = (): number => index.bytes + bytes - this.bytes;
    if (over() <= 0) return;
    const victims = this.#choose({ bytes: over() });
    if (victims.bytes >= over()) await this.#remove(victims.rows);
    if (over() <= 0) return;
    throw new KvasirError(
      'DISK_FULL',
      `The cache budget of ${megabytes(this.bytes)} has no room for a chunk of ${megabytes(bytes)}` +
        `${bytes > this.bytes ? '' : ', because what it holds is pinned or in use'}.`,
      'Raise the cache budget, or unpin entries.',
    );
  }

  /** Evicts what exceeds the budget, as far as pins and leases allow. */
  shed(): Promise<EvictReport> {
    return this.evict({ bytes: Math.max(0, this.#disk.index.bytes - this.bytes) });
  }

  async evict(request: EvictRequest): Promise<EvictReport> {
    const victims = this.#choose(request);
    const gone = await this.#remove(victims.rows);
    const bytes = gone.reduce((sum, row) => sum + row.bytes, 0);
    if (bytes >= (request.bytes ?? Infinity)) return { entries: gone.length, bytes, kept: 0 };
    const pinned = this.#disk.index.list({ pinned: true }).filter(coverage(request)).length;
    const undeletable = victims.rows.length - gone.length;
    return { entries: gone.length, bytes, kept: pinned + victims.inUse + undeletable };
  }

  #choose(request: EvictRequest): Victims {
    const { index, clock } = this.#disk;
    return chooseVictims(
      index.leastRecentlyUsed(),
      this.#options.policy,
      request,
      this.#options.isInUse,
      clock(),
    );
  }

  async #remove(rows: ChunkRow[]): Promise<ChunkRow[]> {
    for (const row of rows) this.#options.onLeaving(row.key);
    const gone = await this.#disk.remove(rows);
    this.evictions += gone.length;
    return gone;
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}
