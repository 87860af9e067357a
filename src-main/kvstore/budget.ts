import { KvasirError } from '../../src-shared/errors.ts';
import type { ChunkDisk } from './disk.ts';
import { chooseVictims, coverage, type Victims } from './evict.ts';
import type { ChunkRow } from './index-db.ts';
import type { EvictionPolicy } from './eviction/policy.ts';
import type { EntryKind, EvictReport, EvictRequest } from './types.ts';

interface DiskBudgetOptions {
  /** Most bytes of files. */
  bytes: number;
  /** Most of them that blocks of prefixes may take. */
  prefixShare: number;
  policy: (kind: EntryKind) => EvictionPolicy;
  /** Whether an entry must stay just now. */
  isInUse: (key: string) => boolean;
  /** Called before an entry's file is deleted. */
  onLeaving: (key: string) => void;
}

/** Room wanted for a new entry. */
interface Incoming {
  kind: EntryKind;
  bytes: number;
}

/**
 * Keeps the files within the budget. Blocks of prefixes come in by the thousand and are cheap to lose: they never take
 * more than their share, and within it chunks make room for them.
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

  get prefixBytes(): number {
    return this.bytes * this.#options.prefixShare;
  }

  /** Evicts so that an entry fits. DISK_FULL, with nothing evicted, when pins and leases leave no way. */
  async makeRoom(incoming: Incoming): Promise<void> {
    if (this.#isOver(incoming)) {
      const { rows, enough } = this.#excess(incoming);
      if (enough) await this.#remove(rows);
    }
    if (this.#fits(this.#over(incoming), incoming.kind)) return;
    const { kind, bytes } = incoming;
    const most = kind === 'prefix' ? this.prefixBytes : this.bytes;
    throw new KvasirError(
      'DISK_FULL',
      `The cache budget of ${megabytes(most)} has no room for a ${kind} of ${megabytes(bytes)}` +
        `${bytes > most ? '' : ', because what it holds is pinned or in use'}.`,
      'Raise the cache budget, or unpin entries.',
    );
  }

  /** Evicts what exceeds the budget, as far as pins and leases allow. */
  async shed(): Promise<EvictReport> {
    if (!this.#isOver(NOTHING)) return { entries: 0, bytes: 0, kept: 0 };
    const { rows, inUse } = this.#excess(NOTHING);
    const gone = await this.#remove(rows);
    const stayed = this.#disk.index.pinnedTotals().entries + inUse + rows.length - gone.length;
    return { entries: gone.length, bytes: sumOfBytes(gone), kept: this.#isOver(NOTHING) ? stayed : 0 };
  }

  /** Prefixes go first: they are the cheapest to make again. */
  async evict(request: EvictRequest): Promise<EvictReport> {
    const prefixes = this.#choose(request, 'prefix');
    const rest = (request.bytes ?? Infinity) - prefixes.bytes;
    const chunks = this.#choose({ ...request, bytes: rest }, 'chunk');
    const rows = [...prefixes.rows, ...chunks.rows];
    const gone = await this.#remove(rows);
    const bytes = sumOfBytes(gone);
    // Where the disk was full the index's log could not go into the index, and grew: now it can.
    if (!request.keys) this.#disk.index.foldLog();
    if (bytes >= (request.bytes ?? Infinity)) return { entries: gone.length, bytes, kept: 0 };
    const pinned = this.#pinnedOf(request);
    const undeletable = rows.length - gone.length;
    return { entries: gone.length, bytes, kept: pinned + prefixes.inUse + chunks.inUse + undeletable };
  }

  /** How many pinned entries a request covers. */
  #pinnedOf(request: EvictRequest): number {
    const { index } = this.#disk;
    if (!request.keys && request.olderThan === undefined) return index.pinnedTotals().entries;
    const rows = request.keys
      ? [...new Set(request.keys)].flatMap((key) => index.get(key) ?? [])
      : index.list({ pinned: true });
    return rows.filter((row) => row.pinned && coverage(request)(row)).length;
  }

  /** Bytes too many once an entry has come in: of prefixes, and of all together. */
  #over({ kind, bytes }: Incoming): { prefix: number; all: number } {
    const { index } = this.#disk;
    const prefixes = index.held('prefix').bytes + (kind === 'prefix' ? bytes : 0);
    return { prefix: prefixes - this.prefixBytes, all: index.bytes + bytes - this.bytes };
  }

  #isOver(incoming: Incoming): boolean {
    const { prefix, all } = this.#over(incoming);
    return prefix > 0 || all > 0;
  }

  /** Prefixes that are pinned above their share are no reason to refuse a chunk. */
  #fits(over: { prefix: number; all: number }, kind: EntryKind): boolean {
    return over.all <= 0 && (kind === 'chunk' || over.prefix <= 0);
  }

  /** What has to go: prefixes above their share, then chunks; further prefixes only when no chunk may go. */
  #excess(incoming: Incoming): { rows: ChunkRow[]; enough: boolean; inUse: number } {
    const over = this.#over(incoming);
    let prefixes = this.#choose({ bytes: over.prefix }, 'prefix');
    const chunks = this.#choose({ bytes: over.all - prefixes.bytes }, 'chunk');
    const missing = over.all - chunks.bytes;
    if (missing > prefixes.bytes) prefixes = this.#choose({ bytes: missing }, 'prefix');
    const left = { prefix: over.prefix - prefixes.bytes, all: missing - prefixes.bytes };
    const enough = this.#fits(left, incoming.kind);
    return { rows: [...prefixes.rows, ...chunks.rows], enough, inUse: prefixes.inUse + chunks.inUse };
  }

  #choose(request: EvictRequest, kind: EntryKind): Victims {
    const { index, clock } = this.#disk;
    return chooseVictims(
      request.keys ? index.candidatesOf(kind, request.keys) : index.candidates(kind),
      this.#options.policy(kind),
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

const NOTHING: Incoming = { kind: 'chunk', bytes: 0 };

function sumOfBytes(rows: readonly ChunkRow[]): number {
  return rows.reduce((sum, row) => sum + row.bytes, 0);
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}
