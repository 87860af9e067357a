import type Database from 'better-sqlite3';
import type { KvDtype } from '../engine/engine.ts';
import type { EntryKind, KindTotals, ListFilter } from './types.ts';

/** A row of the index. */
export interface ChunkRow {
  key: string;
  kind: EntryKind;
  fingerprint: string;
  prefixHash: string;
  dtype: KvDtype;
  layers: number;
  tokens: number;
  bytes: number;
  formatVersion: number;
  label: string;
  pinned: 0 | 1;
  hits: number;
  createdAt: number;
  lastUsedAt: number;
  /** Of the last use; see EvictionCandidate. */
  class: string;
  order: number;
  offset: number;
}

/** Entries and their bytes. */
export interface Held {
  entries: number;
  bytes: number;
}

interface Use {
  class: string;
  lastUsedAt: number;
  order: number;
  offset: number;
  /** Uses since the last flush. */
  hits: number;
}

const COLUMNS = `key, kind, fingerprint, prefix_hash AS prefixHash, dtype, layers, tokens, bytes, format_version AS formatVersion,
  label, pinned, hits, created_at AS createdAt, last_used_at AS lastUsedAt, class, use_order AS "order", use_offset AS offset`;

/** Uses are cheap to lose and costly to write one by one: they wait until there are this many, or something reads them. */
const PENDING_USES = 64;

/**
 * Rows and their totals. Not thread-safe and not shared: the store's lock makes this the only connection.
 * Invariant: what is held of each kind equals count and sum over the table.
 */
export class ChunkIndex {
  readonly #db: Database.Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #uses = new Map<string, Use>();
  readonly #onFlushFailed: (error: unknown) => void;
  /** Classes that rows may be in, by kind. */
  readonly #classes: Record<EntryKind, Set<string>> = { chunk: new Set(), prefix: new Set() };
  #order = 0;
  #lastRequest: object | undefined;
  readonly #held: Record<EntryKind, Held> = {
    chunk: { entries: 0, bytes: 0 },
    prefix: { entries: 0, bytes: 0 },
  };

  /** Throws SQLITE_ERROR when the schema is not the one this version knows. */
  constructor(db: Database.Database, onFlushFailed: (error: unknown) => void) {
    this.#db = db;
    this.#onFlushFailed = onFlushFailed;
    this.#statements = prepare(db);
    for (const { kind, name } of this.#statements.classes.all()) this.#classes[kind].add(name);
    for (const { kind, entries, bytes, lastOrder } of this.#statements.held.all()) {
      this.#held[kind] = { entries, bytes };
      this.#order = Math.max(this.#order, lastOrder);
    }
  }

  get entries(): number {
    return this.#held.chunk.entries + this.#held.prefix.entries;
  }
  /** Bytes of all files. */
  get bytes(): number {
    return this.#held.chunk.bytes + this.#held.prefix.bytes;
  }

  held(kind: EntryKind): Readonly<Held> {
    return this.#held[kind];
  }

  get(key: string): ChunkRow | undefined {
    return this.#statements.get.get(key);
  }

  /** All rows; a copy, so that rows may be changed meanwhile. */
  all(): ChunkRow[] {
    return this.#statements.all.all();
  }

  /**
   * Unpinned rows, each class by itself and in the order in which they go. Once an iteration has begun nothing may be
   * written until it has ended.
   */
  candidates(kind: EntryKind): Iterable<ChunkRow>[] {
    this.flush();
    return [...this.#classes[kind]].map((name) => ({
      [Symbol.iterator]: () => prepareCandidates(this.#db).iterate(kind, name),
    }));
  }

  list(filter: ListFilter): ChunkRow[] {
    this.flush();
    return this.#statements.list.all({
      kind: filter.kind ?? null,
      fingerprint: filter.fingerprint ?? null,
      pinned: filter.pinned === undefined ? null : Number(filter.pinned),
      limit: filter.limit ?? -1,
      offset: filter.offset ?? 0,
    });
  }

  totals(): KindTotals[] {
    return this.#statements.kinds.all();
  }

  pinnedTotals(): { entries: number; bytes: number } {
    return this.#statements.pinned.get() ?? { entries: 0, bytes: 0 };
  }

  insert(row: ChunkRow): void {
    this.#statements.insert.run(row);
    this.#classes[row.kind].add(row.class);
    const held = this.#held[row.kind];
    held.entries++;
    held.bytes += row.bytes;
  }

  /** Removes rows in one transaction; unknown keys are passed over. */
  remove(keys: readonly string[]): void {
    const rows = keys.flatMap((key) => this.get(key) ?? []);
    this.#db.transaction(() => {
      for (const { key } of rows) this.#statements.remove.run(key);
    })();
    for (const row of rows) {
      this.#uses.delete(row.key);
      const held = this.#held[row.kind];
      held.entries--;
      held.bytes -= row.bytes;
    }
  }

  setPinned(key: string, pinned: boolean): boolean {
    return this.#statements.setPinned.run(Number(pinned), key).changes > 0;
  }

  /** The order of a use that happens now; one and the same for all uses of a request. */
  nextOrder(request?: object): number {
    if (!request || request !== this.#lastRequest) this.#order++;
    this.#lastRequest = request;
    return this.#order;
  }

  /** Notes a use; the row is written later. */
  use({ key, kind }: Pick<ChunkRow, 'key' | 'kind'>, use: Omit<Use, 'hits'>): void {
    const hits = (this.#uses.get(key)?.hits ?? 0) + 1;
    this.#uses.set(key, { ...use, hits });
    this.#classes[kind].add(use.class);
    if (this.#uses.size >= PENDING_USES) this.flush();
  }

  /** What was kept of the workload, or undefined. */
  workload(): string | undefined {
    return this.#statements.workload.get();
  }

  keepWorkload(state: string): void {
    try {
      this.#statements.setWorkload.run(state);
    } catch (error) {
      this.#onFlushFailed(error);
    }
  }

  /** Writes the uses noted so far. If that fails (full disk) they wait on: reading and evicting must work even then. */
  flush(): void {
    if (this.#uses.size === 0) return;
    try {
      this.#db.transaction(() => {
        for (const [key, use] of this.#uses) this.#statements.use.run({ key, ...use });
      })();
      this.#uses.clear();
    } catch (error) {
      this.#onFlushFailed(error);
    }
  }

  /** Does not flush. */
  close(): void {
    this.#db.close();
  }
}

interface ListParameters {
  kind: EntryKind | null;
  fingerprint: string | null;
  pinned: number | null;
  limit: number;
  offset: number;
}

/** Prepared for each iteration: several run at once. */
function prepareCandidates(db: Database.Database) {
  return db.prepare<[EntryKind, string], ChunkRow>(
    `SELECT ${COLUMNS} FROM chunks INDEXED BY chunks_by_class WHERE NOT pinned AND kind = ? AND class = ?
     ORDER BY use_order, use_offset DESC`,
  );
}

function prepare(db: Database.Database) {
  return {
    held: db.prepare<[], Held & { kind: EntryKind; lastOrder: number }>(
      `SELECT kind, count(*) AS entries, sum(bytes) AS bytes, max(use_order) AS lastOrder FROM chunks GROUP BY kind`,
    ),
    get: db.prepare<[string], ChunkRow>(`SELECT ${COLUMNS} FROM chunks WHERE key = ?`),
    all: db.prepare<[], ChunkRow>(`SELECT ${COLUMNS} FROM chunks ORDER BY key`),
    classes: db.prepare<[], { kind: EntryKind; name: string }>(
      `SELECT DISTINCT kind, class AS name FROM chunks`,
    ),
    list: db.prepare<ListParameters, ChunkRow>(
      `SELECT ${COLUMNS} FROM chunks
       WHERE kind = ifnull(@kind, kind) AND fingerprint = ifnull(@fingerprint, fingerprint)
         AND pinned = ifnull(@pinned, pinned)
       ORDER BY use_order DESC LIMIT @limit OFFSET @offset`,
    ),
    kinds: db.prepare<[], KindTotals>(
      `SELECT kind, fingerprint, dtype, count(*) AS entries, sum(tokens) AS tokens, sum(bytes) AS bytes FROM chunks
       GROUP BY kind, fingerprint, dtype ORDER BY kind, fingerprint, dtype`,
    ),
    pinned: db.prepare<[], { entries: number; bytes: number }>(
      `SELECT count(*) AS entries, coalesce(sum(bytes), 0) AS bytes FROM chunks WHERE pinned`,
    ),
    insert: db.prepare<ChunkRow>(
      `INSERT INTO chunks (key, kind, fingerprint, prefix_hash, dtype, layers, tokens, bytes, format_version,
         label, pinned, hits, created_at, last_used_at, class, use_order, use_offset)
       VALUES (@key, @kind, @fingerprint, @prefixHash, @dtype, @layers, @tokens, @bytes, @formatVersion,
         @label, @pinned, @hits, @createdAt, @lastUsedAt, @class, @order, @offset)`,
    ),
    remove: db.prepare<[string]>(`DELETE FROM chunks WHERE key = ?`),
    setPinned: db.prepare<[number, string]>(`UPDATE chunks SET pinned = ? WHERE key = ?`),
    use: db.prepare<{ key: string } & Use>(
      `UPDATE chunks SET hits = hits + @hits, last_used_at = @lastUsedAt, class = @class, use_order = @order,
         use_offset = @offset WHERE key = @key`,
    ),
    workload: db.prepare<[], string>(`SELECT state FROM workload`).pluck(),
    setWorkload: db.prepare<[string]>(`INSERT OR REPLACE INTO workload VALUES (0, ?)`),
  };
}
