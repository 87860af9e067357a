import { KV_DTYPES } from '../../src-shared/kv-dtype.ts';
import type { Database } from '../platform/database.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import type { EvictionCandidate } from './eviction/policy.ts';
import type { ChunkEntry, DetachedFolder, EntryKind, KindTotals, ListedEntry, ListFilter } from './types.ts';

/** A row of the index. */
export interface ChunkRow extends Omit<ChunkEntry, 'pinned' | 'away' | 'leases' | 'inRam'> {
  pinned: 0 | 1;
  /** Of the last use; see EvictionCandidate. */
  order: number;
  offset: number;
}

/** Number of entries and their bytes. */
interface EntryTotals {
  entries: number;
  bytes: number;
}

/** The columns shown in very long lists. */
type ListedRow = Pick<ChunkRow, Exclude<keyof ListedEntry, 'away' | 'inRam'>>;

/** Aggregated or single entries. */
type UsageRow = KindTotals & Pick<ChunkRow, 'folder' | 'class' | 'pinned' | 'order'>;

/** A row has values that readers of rows do not expect. */
export class ImpossibleRow extends Error {}

interface Use extends EvictionCandidate {
  /** Uses since the last flush. */
  hits: number;
}

const COLUMNS = `key, folder, kind, fingerprint, prefix_hash AS prefixHash, dtype, layers, tokens, bytes, format_version AS formatVersion,
  label, pinned, hits, created_at AS createdAt, last_used_at AS lastUsedAt, class, use_order AS "order", use_offset AS offset`;

/** Rows read before yielding to other calls: a few milliseconds. */
const ROWS_AT_ONCE = 500;

/**
 * Uses are cheap to lose and costly to write one by one: they are buffered up to this number, or until they are read.
 */
const PENDING_USES = 64;

/** A separate statement for each set of filters: a column compared with itself could not use an index. */
function listQuery({ kind, fingerprint, pinned }: ListFilter): string {
  const wanted = [
    ...(kind === undefined ? [] : ['kind = @kind']),
    ...(fingerprint === undefined ? [] : ['fingerprint = @fingerprint']),
    ...(pinned === undefined ? [] : ['pinned = @pinned']),
  ];
  const where = wanted.length > 0 ? `WHERE ${wanted.join(' AND ')}` : '';
  return `SELECT ${COLUMNS} FROM chunks ${where} ORDER BY use_order DESC LIMIT @limit OFFSET @offset`;
}

/** JavaScript computes with sizes and orders; keys are parts of paths. Readers of a row rely on these bounds. */
const POSSIBLE = `length(key) = 64 AND key NOT GLOB '*[^0-9a-f]*' AND kind IN ('chunk', 'prefix')
  AND folder NOT GLOB '*[^0-9a-f]*' AND length(folder) <= 16 AND dtype IN (${KV_DTYPES.map((dtype) => `'${dtype}'`).join(', ')})
  AND layers BETWEEN 1 AND 65536 AND tokens BETWEEN 1 AND 2147483647 AND bytes BETWEEN 1 AND 1099511627776
  AND format_version BETWEEN 1 AND 65536 AND pinned IN (0, 1) AND hits BETWEEN 0 AND 9007199254740991
  AND created_at BETWEEN 0 AND 8640000000000000 AND last_used_at BETWEEN 0 AND 8640000000000000
  AND use_order BETWEEN 0 AND 4503599627370496 AND use_offset BETWEEN 0 AND 2147483647`;

/** Borders of 256 ranges of keys, of about as many rows each; any text is less than a blob. */
const KEY_BORDERS = [
  '',
  ...Array.from({ length: 255 }, (_, i) => (i + 1).toString(16).padStart(2, '0')),
  Buffer.alloc(0),
];

/** Compiled when the index is opened. */
const SQL = {
  get: `SELECT ${COLUMNS} FROM chunks WHERE key = ?`,
  listed: `SELECT key, folder, kind, fingerprint, dtype, tokens, bytes, label, pinned, hits, last_used_at AS lastUsedAt FROM chunks
    WHERE key > ? ORDER BY key LIMIT ?`,
  after: `SELECT ${COLUMNS} FROM chunks WHERE key > ? ORDER BY key LIMIT ?`,
  candidates: `SELECT ${COLUMNS} FROM chunks INDEXED BY chunks_by_group WHERE NOT pinned AND folder = @folder AND kind = @kind
    AND fingerprint = @fingerprint AND dtype = @dtype AND class = @class ORDER BY use_order, use_offset DESC`,
  held: `SELECT folder, kind, fingerprint, dtype, class, pinned, count(*) AS entries, sum(tokens) AS tokens, sum(bytes) AS bytes,
    max(use_order) AS "order", total(NOT (${POSSIBLE})) AS impossible FROM chunks WHERE key >= ? AND key < ?
    GROUP BY folder, kind, fingerprint, dtype, class, pinned`,
  insert: `INSERT INTO chunks (key, folder, kind, fingerprint, prefix_hash, dtype, layers, tokens, bytes, format_version,
      label, pinned, hits, created_at, last_used_at, class, use_order, use_offset)
    VALUES (@key, @folder, @kind, @fingerprint, @prefixHash, @dtype, @layers, @tokens, @bytes, @formatVersion,
      @label, @pinned, @hits, @createdAt, @lastUsedAt, @class, @order, @offset)`,
  remove: `DELETE FROM chunks WHERE key = ?`,
  setPinned: `UPDATE chunks SET pinned = ? WHERE key = ?`,
  setFolder: `UPDATE chunks SET folder = ? WHERE key = ?`,
  addDeletion: `INSERT OR IGNORE INTO deletions VALUES (?, ?)`,
  isDeleted: `SELECT 1 FROM deletions WHERE folder = ? AND key = ?`,
  keysIn: `SELECT key FROM chunks WHERE folder = ? AND pinned <= ? LIMIT ?`,
  forgetDeletions: `DELETE FROM deletions WHERE folder = ?`,
  deletedIn: `SELECT folder FROM deletions GROUP BY folder`,
  use: `UPDATE chunks SET hits = hits + @hits, last_used_at = @lastUsedAt, class = @class, use_order = @order,
    use_offset = @offset WHERE key = @key`,
  workload: `SELECT state FROM workload`,
  setWorkload: `INSERT OR REPLACE INTO workload VALUES (0, ?)`,
};

/**
 * Rows and their totals. Not thread-safe and not shared: the store's lock ensures that this is the only writing
 * connection. Invariant: the totals per folder, kind and model, and of pinned entries, equal count and sum over the
 * table.
 */
export class ChunkIndex {
  readonly #db: Database;
  readonly #uses = new Map<string, Use>();
  readonly #onFlushFailed: (error: unknown) => void;
  /** The rows' groups: within one, the order of use is the order of eviction. */
  readonly #groups = new Map<string, RowGroup>();
  #order = 0;
  #lastRequest: object | undefined;
  readonly #held = new Map<string, Record<EntryKind, EntryTotals>>();
  readonly #pinned: EntryTotals = { entries: 0, bytes: 0 };
  /** Cached, because counting takes time in proportion to the number of entries. */
  readonly #totals = new Map<string, KindTotals>();

  private constructor(db: Database, onFlushFailed: (error: unknown) => void) {
    this.#db = db;
    this.#onFlushFailed = onFlushFailed;
    db.compile(Object.values(SQL));
  }

  /** Reads every row once. SQLITE_ERROR if the schema is not that of this version; ImpossibleRow. */
  static async open(db: Database, onFlushFailed: (error: unknown) => void): Promise<ChunkIndex> {
    const index = new ChunkIndex(db, onFlushFailed);
    const slice = new TimeSlice();
    for (const [i, end] of KEY_BORDERS.slice(1).entries()) {
      for (const row of db.all<UsageRow & { impossible: number }>(SQL.held, KEY_BORDERS[i], end)) {
        if (row.impossible > 0) throw new ImpossibleRow();
        index.#addGroup(row);
        index.#order = Math.max(index.#order, row.order);
        index.#count(row, 1);
      }
      await slice.step();
    }
    return index;
  }

  /** Of one folder, or of all. */
  held(kind: EntryKind, folder?: string): EntryTotals {
    const held: EntryTotals = { entries: 0, bytes: 0 };
    for (const [id, totals] of this.#held)
      if (folder === undefined || id === folder) add(held, totals[kind], 1);
    return held;
  }

  entriesIn(folder: string): number {
    return this.held('chunk', folder).entries + this.held('prefix', folder).entries;
  }

  /** Total bytes of the files in a folder. */
  bytesIn(folder: string): number {
    return this.held('chunk', folder).bytes + this.held('prefix', folder).bytes;
  }

  get(key: string): ChunkRow | undefined {
    return this.#db.get(SQL.get, key);
  }

  /**
   * Unpinned rows of one folder or of all, separately per group and in eviction order. Nothing may be written while an
   * iteration is in progress.
   */
  candidates(kind: EntryKind, folder?: string): Iterable<ChunkRow>[] {
    this.flush();
    const groups = [...this.#groups.values()].filter(
      (group) => group.kind === kind && (folder === undefined || group.folder === folder),
    );
    return groups.map((group) => ({
      [Symbol.iterator]: () => this.#db.iterate<ChunkRow>(SQL.candidates, group),
    }));
  }

  /** Like candidates(), limited to these keys. */
  candidatesOf(kind: EntryKind, keys: readonly string[]): ChunkRow[][] {
    this.flush();
    const rows = [...new Set(keys)].flatMap((key) => this.get(key) ?? []);
    const free = rows.filter((row) => row.kind === kind && !row.pinned);
    free.sort((a, b) => a.order - b.order || b.offset - a.offset);
    return [...Map.groupBy(free, groupKey).values()];
  }

  list(filter: ListFilter): ChunkRow[] {
    this.flush();
    const { kind, fingerprint, pinned, limit = -1, offset = 0 } = filter;
    return this.#db.all(listQuery(filter), { kind, fingerprint, pinned: Number(pinned), limit, offset });
  }

  /** Every row; rows already yielded may change meanwhile. */
  async *all(): AsyncGenerator<ChunkRow> {
    const slice = new TimeSlice();
    let page: ChunkRow[] = [];
    do {
      this.flush();
      page = this.#db.all(SQL.after, page.at(-1)?.key ?? '', ROWS_AT_ONCE);
      yield* page;
      await slice.step();
    } while (page.length === ROWS_AT_ONCE);
  }

  /** In key order, starting after `key`. */
  listed(key: string, limit: number): ListedRow[] {
    this.flush();
    return this.#db.all(SQL.listed, key, limit);
  }

  totals(): KindTotals[] {
    const held = [...this.#totals.values()].filter(({ entries }) => entries > 0);
    return held.map((totals) => ({ ...totals })).sort((a, b) => (kindKey(a) < kindKey(b) ? -1 : 1));
  }

  pinnedTotals(): EntryTotals {
    return { ...this.#pinned };
  }

  insert(row: ChunkRow): void {
    this.#db.run(SQL.insert, row);
    this.#addGroup(row);
    this.#count({ ...row, entries: 1 }, 1);
  }

  /** Removes rows in one transaction; ignores unknown keys. */
  remove(keys: readonly string[]): void {
    const rows = keys.flatMap((key) => this.get(key) ?? []);
    this.#db.transaction(() => {
      for (const { key } of rows) this.#db.run(SQL.remove, key);
    });
    for (const row of rows) {
      this.#uses.delete(row.key);
      this.#count({ ...row, entries: 1 }, -1);
    }
  }

  /** False if there is no such row. */
  setPinned(key: string, pinned: boolean): boolean {
    const row = this.get(key);
    if (!row) return false;
    if (pinned === (row.pinned === 1)) return true;
    this.#db.run(SQL.setPinned, Number(pinned), key);
    add(this.#pinned, { ...row, entries: 1 }, pinned ? 1 : -1);
    return true;
  }

  /** The file of a row is in another folder now. */
  setFolder(row: ChunkRow, folder: string): void {
    this.#db.run(SQL.setFolder, folder, row.key);
    this.#count({ ...row, entries: 1 }, -1);
    this.#addGroup({ ...row, folder });
    this.#count({ ...row, folder, entries: 1 }, 1);
  }

  /** Removes rows whose folder is not connected, and notes that their files have to be deleted. */
  removeAway(rows: readonly ChunkRow[]): void {
    if (rows.length === 0) return;
    this.#db.transaction(() => {
      for (const { folder, key } of rows) this.#db.run(SQL.addDeletion, folder, key);
    });
    this.remove(rows.map(({ key }) => key));
  }

  /** Whether a chunk was deleted while its folder was not connected. */
  isDeleted(folder: string, key: string): boolean {
    return this.#db.value(SQL.isDeleted, folder, key) !== undefined;
  }

  /** Its files were deleted. */
  forgetDeletions(folder: string): void {
    this.#db.run(SQL.forgetDeletions, folder);
  }

  /** Ids of all folders that rows or deletions name. */
  folders(): string[] {
    const held = [...this.#held.keys()].filter((folder) => this.entriesIn(folder) > 0);
    const deleted = this.#db.all<{ folder: string }>(SQL.deletedIn).map(({ folder }) => folder);
    return [...new Set([...held, ...deleted])];
  }

  /**
   * Drops all rows and deletions of a folder, whose files stay. A power cut undoes neither this nor earlier changes: else
   * it would list what is no longer there, in a folder that is not used any more.
   */
  forgetFolder(folder: string): void {
    this.#removeIn(folder, 1);
    this.#db.durable(() => {
      this.#db.run(SQL.addDeletion, folder, ''); // without a change, nothing would be flushed
      this.forgetDeletions(folder);
    });
  }

  /** Drops the rows of a folder, whose files stay. Rows of pinned chunks and deletions stay for when it is used again. */
  detachFolder(folder: string): DetachedFolder {
    const chunks = this.entriesIn(folder);
    this.#removeIn(folder, 0);
    return { chunks, pinned: this.entriesIn(folder) };
  }

  #removeIn(folder: string, pinned: 0 | 1): void {
    for (;;) {
      const rows = this.#db.all<{ key: string }>(SQL.keysIn, folder, pinned, ROWS_AT_ONCE);
      if (rows.length === 0) return;
      this.remove(rows.map(({ key }) => key));
    }
  }

  #addGroup({ folder, kind, fingerprint, dtype, class: name }: RowGroup): void {
    const group = { folder, kind, fingerprint, dtype, class: name };
    this.#groups.set(groupKey(group), group);
  }

  #count(rows: UsageRow, by: 1 | -1): void {
    const { kind, fingerprint, dtype } = rows;
    const totals = this.#totals.get(kindKey(rows)) ?? {
      kind,
      fingerprint,
      dtype,
      entries: 0,
      tokens: 0,
      bytes: 0,
    };
    this.#totals.set(kindKey(rows), totals);
    add(totals, rows, by);
    totals.tokens += by * rows.tokens;
    const held = this.#held.get(rows.folder) ?? {
      chunk: { entries: 0, bytes: 0 },
      prefix: { entries: 0, bytes: 0 },
    };
    this.#held.set(rows.folder, held);
    add(held[kind], rows, by);
    if (rows.pinned) add(this.#pinned, rows, by);
  }

  /** The order of a use that happens now; identical for all uses of a request. */
  nextOrder(request?: object): number {
    if (!request || request !== this.#lastRequest) this.#order++;
    this.#lastRequest = request;
    return this.#order;
  }

  /** Records a use, or with 0 `uses` another reason to keep the row; it is written later. */
  use({ key }: Pick<ChunkRow, 'key'>, use: Omit<Use, 'hits'>, uses = 1): void {
    const hits = (this.#uses.get(key)?.hits ?? 0) + uses;
    this.#uses.set(key, { ...use, hits });
    if (this.#uses.size >= PENDING_USES) this.flush();
  }

  /** The saved workload state, or undefined. */
  workload(): string | undefined {
    return this.#db.value(SQL.workload);
  }

  keepWorkload(state: string): void {
    try {
      this.#db.run(SQL.setWorkload, state);
    } catch (error) {
      this.#onFlushFailed(error);
    }
  }

  /**
   * Writes the buffered uses. If that fails (full disk) they stay buffered: reading and evicting must work even then.
   */
  flush(): void {
    if (this.#uses.size === 0) return;
    try {
      this.#db.transaction(() => {
        for (const [key, use] of this.#uses) this.#db.run(SQL.use, { key, ...use });
      });
      for (const [key, use] of this.#uses) {
        const row = this.get(key);
        if (row) this.#addGroup({ ...row, class: use.class });
      }
      this.#uses.clear();
    } catch (error) {
      this.#onFlushFailed(error);
    }
  }

  /** Checkpoints SQLite's write-ahead log and truncates it, as far as readers allow. */
  foldLog(): void {
    this.flush();
    this.#db.pragma('wal_checkpoint(TRUNCATE)');
  }

  /** See Database.rest(). */
  rest(): Promise<void> {
    return this.#db.rest();
  }

  /** Does not flush. */
  close(): void {
    this.#db.close();
  }
}

type RowGroup = Pick<ChunkRow, 'folder' | 'kind' | 'fingerprint' | 'dtype' | 'class'>;

function groupKey(row: RowGroup): string {
  return `${row.folder} ${kindKey(row)} ${row.class}`;
}

function kindKey({ kind, fingerprint, dtype }: Pick<KindTotals, 'kind' | 'fingerprint' | 'dtype'>): string {
  return `${kind} ${fingerprint} ${dtype}`;
}

function add(held: EntryTotals, { entries, bytes }: EntryTotals, by: 1 | -1): void {
  held.entries += by * entries;
  held.bytes += by * bytes;
}
