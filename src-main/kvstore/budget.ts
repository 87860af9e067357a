import { KvasirError } from '../../src-shared/errors.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import type { ChunkDisk } from './disk.ts';
import { chooseVictims, type Victims } from './evict.ts';
import type { ChunkRow } from './index-db.ts';
import type { EntryKind, EvictReport, EvictRequest } from './types.ts';

interface DiskBudgetOptions {
  /** Id of the folder. */
  folder: string;
  /** Size limit of the folder's files in bytes. */
  bytes: number;
  /** Size limit of prefix blocks, as a share of `bytes`. */
  prefixShare: number;
  policy: (kind: EntryKind) => { worth(row: ChunkRow, now: number): number };
  /** Whether an entry must stay for now. */
  isInUse: (key: string) => boolean;
  /** Called before an entry's file is deleted. */
  onLeaving: (key: string) => void;
  /** Moves an entry to another folder instead of deleting it; false if it is not worth a place there. */
  demote: (row: ChunkRow) => Promise<boolean>;
}

/** An evict request that is processed part by part. */
type PartRequest = Omit<EvictRequest, 'keys' | 'bytes'> & {
  keys?: readonly string[] | undefined;
  bytes: number;
  below?: number | undefined;
  /** The only folder to evict from, where entries may move to others. */
  folder?: string;
};

/** The result of an eviction so far. */
interface EvictionProgress {
  entries: number;
  bytes: number;
  /** Keys of entries that stayed because they are in use or their files could not be deleted. */
  kept: Set<string>;
}

/** Space needed for a new entry. */
interface SpaceRequest {
  kind: EntryKind;
  bytes: number;
  /** Worth of an entry that nobody has asked for, or that was evicted elsewhere: only entries of a lower one are evicted for it. */
  worth?: number | undefined;
  /** Whether what is evicted for it is deleted, instead of moved to another folder. */
  deletes?: boolean;
}

/**
 * Keeps a folder's files within its budget. Prefix blocks arrive by the thousand and are cheap to lose: they never exceed
 * their share, and chunks are evicted to give them that share.
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

  /** Whether a new entry fits, after evicting others. */
  hasRoom(incoming: SpaceRequest): boolean {
    return this.isFree(incoming) || this.#excess(incoming).enough;
  }

  /** Whether a new entry fits without that. */
  isFree(incoming: SpaceRequest): boolean {
    return !this.#isOver(incoming);
  }

  /**
   * Evicts entries until a new one fits. CACHE_FULL if it has a worth and others are worth as much; DISK_FULL, with
   * nothing evicted, if pins and leases make that impossible.
   */
  async makeRoom(incoming: SpaceRequest): Promise<void> {
    if (this.#isOver(incoming)) {
      const { rows, enough } = this.#excess(incoming);
      if (enough) await (incoming.deletes ? this.#remove(rows) : this.#vacate(rows));
    }
    if (this.#fits(this.#over(incoming), incoming.kind)) return;
    const { kind, bytes, worth } = incoming;
    if (worth !== undefined) {
      const budget = megabytes(this.bytes);
      throw new KvasirError('CACHE_FULL', `The cache is full: its budget is ${budget}.`, 'Raise the budget.');
    }
    const most = kind === 'prefix' ? this.prefixBytes : this.bytes;
    throw new KvasirError(
      'DISK_FULL',
      `The cache budget of ${megabytes(most)} cannot fit a ${kind} of ${megabytes(bytes)}` +
        `${bytes > most ? '' : ', because its entries are pinned or in use'}.`,
      'Raise the cache budget, or unpin entries.',
    );
  }

  /** Evicts down to the budget, as far as pins and leases allow. What has a place in another folder moves there. */
  async shed(): Promise<EvictReport> {
    const done = nothingDone();
    const { folder } = this.#options;
    await this.#evictSome({ folder, bytes: this.#over(NOTHING).prefix }, 'prefix', done);
    await this.#evictSome({ folder, bytes: this.#over(NOTHING).all }, 'chunk', done);
    await this.#evictSome({ folder, bytes: this.#over(NOTHING).all }, 'prefix', done);
    const isKept = this.#isOver(NOTHING);
    return { ...done, kept: isKept ? done.kept.size + this.#disk.index.pinnedTotals().entries : 0 };
  }

  /** Deletes entries of all folders, prefixes first: they are the cheapest to recompute. */
  async evict({ bytes: wanted = Infinity, keys, ...request }: EvictRequest): Promise<EvictReport> {
    const done = nothingDone();
    for (const part of keys ? partsOf(keys) : [undefined])
      for (const kind of ['prefix', 'chunk'] as const)
        await this.#evictSome({ ...request, keys: part, bytes: wanted - done.bytes }, kind, done);
    // While the disk was full, the index's write-ahead log could not be checkpointed and grew: now it can.
    if (!keys) this.#disk.index.foldLog();
    const isKept = done.bytes < wanted;
    return { ...done, kept: isKept ? done.kept.size + this.#pinnedOf({ ...request, keys }) : 0 };
  }

  /**
   * Evicts entries of one kind in rounds, so that choosing among very many does not block other calls; adds to `done`.
   */
  async #evictSome(request: PartRequest, kind: EntryKind, done: EvictionProgress): Promise<void> {
    const slice = new TimeSlice();
    const stuck = new Set<string>();
    let wanted = request.bytes;
    for (;;) {
      const { rows, staying } = this.#choose({ ...request, bytes: wanted }, kind, stuck, ROUND);
      const gone = new Set(await (request.folder === undefined ? this.#remove(rows) : this.#vacate(rows)));
      for (const row of rows) {
        if (!gone.has(row)) stuck.add(row.key);
        else {
          done.entries++;
          done.bytes += row.bytes;
          wanted -= row.bytes;
        }
      }
      if (rows.length < ROUND) {
        for (const key of [...staying, ...stuck]) done.kept.add(key);
        return;
      }
      await slice.step();
    }
  }

  #pinnedOf(request: Omit<PartRequest, 'bytes'>): number {
    const { index } = this.#disk;
    if (!request.keys) return index.pinnedTotals().entries;
    return [...new Set(request.keys)].filter((key) => index.get(key)?.pinned).length;
  }

  /** Bytes over the limit after an entry is added: of prefixes, and in total. */
  #over({ kind, bytes }: SpaceRequest): { prefix: number; all: number } {
    const { index } = this.#disk;
    const { folder } = this.#options;
    const prefixes = index.held('prefix', folder).bytes + (kind === 'prefix' ? bytes : 0);
    return { prefix: prefixes - this.prefixBytes, all: index.bytesIn(folder) + bytes - this.bytes };
  }

  #isOver(incoming: SpaceRequest): boolean {
    const { prefix, all } = this.#over(incoming);
    return prefix > 0 || all > 0;
  }

  /** Pinned prefixes above their share are no reason to refuse a chunk. */
  #fits(over: { prefix: number; all: number }, kind: EntryKind): boolean {
    return over.all <= 0 && (kind === 'chunk' || over.prefix <= 0);
  }

  /** Chooses victims: prefixes above their share, then chunks; further prefixes only if no chunk may be evicted. */
  #excess(incoming: SpaceRequest): { rows: ChunkRow[]; enough: boolean } {
    const over = this.#over(incoming);
    const { folder } = this.#options;
    const below = incoming.worth;
    let prefixes = this.#choose({ folder, bytes: over.prefix }, 'prefix');
    const chunks = this.#choose({ folder, bytes: over.all - prefixes.bytes, below }, 'chunk');
    const missing = over.all - chunks.bytes;
    if (missing > prefixes.bytes) prefixes = this.#choose({ folder, bytes: missing, below }, 'prefix');
    const left = { prefix: over.prefix - prefixes.bytes, all: missing - prefixes.bytes };
    return { rows: [...prefixes.rows, ...chunks.rows], enough: this.#fits(left, incoming.kind) };
  }

  #choose(request: PartRequest, kind: EntryKind, stuck = new Set<string>(), most = Infinity): Victims {
    const { index, clock } = this.#disk;
    const { policy, isInUse } = this.#options;
    const queues = request.keys
      ? index.candidatesOf(kind, request.keys)
      : index.candidates(kind, request.folder);
    // What is not connected frees no space: it is deleted only where the request is for these entries, or for all.
    const freesSpace = !request.keys && !request.all;
    const mustStay = (row: ChunkRow): boolean =>
      stuck.has(row.key) || isInUse(row.key) || (freesSpace && this.#disk.isAway(row));
    return chooseVictims(queues, policy(kind), { ...request, most }, mustStay, clock());
  }

  /** Moves rows to other folders, or deletes them; returns those that are no longer in this one. */
  async #vacate(rows: ChunkRow[]): Promise<ChunkRow[]> {
    const [moved, rest]: [ChunkRow[], ChunkRow[]] = [[], []];
    for (const row of rows)
      (row.kind === 'chunk' && (await this.#options.demote(row)) ? moved : rest).push(row);
    return [...moved, ...(await this.#remove(rest))];
  }

  async #remove(rows: ChunkRow[]): Promise<ChunkRow[]> {
    for (const row of rows) this.#options.onLeaving(row.key);
    const gone = await this.#disk.remove(rows);
    this.evictions += gone.length;
    return gone;
  }
}

const NOTHING: SpaceRequest = { kind: 'chunk', bytes: 0 };

const nothingDone = (): EvictionProgress => ({ entries: 0, bytes: 0, kept: new Set() });

/** Entries chosen and deleted before yielding to other calls. */
const ROUND = 500;

function* partsOf(keys: readonly string[]): Generator<readonly string[]> {
  for (let start = 0; start < keys.length; start += ROUND) yield keys.slice(start, start + ROUND);
}

function megabytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MB`;
}

export function requireBudget(name: string, bytes: number): void {
  if (!(bytes >= 0)) throw new TypeError(`${name} must be a number of bytes, 0 or more.`);
}
