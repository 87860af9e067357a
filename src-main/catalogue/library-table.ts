import type { Failure } from '../../src-shared/contract/common.ts';
import type { Database } from '../platform/database.ts';

type RootKind = 'folder' | 'file' | 'managed';

export interface LibraryRow {
  id: number;
  name: string;
  sample: boolean;
}

/** The source of a library's documents. */
export interface RootRow {
  id: number;
  libraryId: number;
  kind: RootKind;
  /** Absolute. */
  path: string;
  watched: boolean;
  failure: Failure | null;
}

type RawValues<T> = {
  [K in keyof T]: T[K] extends boolean ? number : T[K] extends Failure | null ? string | null : T[K];
};

const ROOT_COLUMNS = 'id, library_id AS libraryId, kind, path, watched, failure';

/** Libraries, their roots, and the paths that users excluded from them. */
export class LibraryTable {
  readonly #sql: Database;

  constructor(sql: Database) {
    this.#sql = sql;
  }

  list(): LibraryRow[] {
    return this.#sql
      .all<RawValues<LibraryRow>>(
        'SELECT id, name, sample FROM library WHERE NOT doomed ORDER BY sample DESC, id',
      )
      .map(toLibrary);
  }

  /**
   * The libraries that a question about these searches. If none is named: all, without the sample library once another one has documents.
   */
  asked(libraryIds: readonly string[]): string[] {
    if (libraryIds.length > 0) return [...libraryIds];
    const query = `SELECT CAST(id AS TEXT) FROM library WHERE NOT doomed AND (NOT sample OR NOT EXISTS (
      SELECT 1 FROM library o JOIN document d ON d.library_id = o.id
        WHERE NOT o.sample AND NOT o.doomed AND d.phase <> 'failed')) ORDER BY id`;
    return this.#sql.column(query);
  }

  get(id: number): LibraryRow | undefined {
    const query = 'SELECT id, name, sample FROM library WHERE id = ? AND NOT doomed';
    const row = this.#sql.get<RawValues<LibraryRow>>(query, id);
    return row && toLibrary(row);
  }

  create(name: string, sample = false): number {
    const sql = 'INSERT INTO library (name, sample) VALUES (?, ?) RETURNING id';
    return this.#sql.value<number>(sql, name, Number(sample)) as number;
  }

  update(id: number, { name, sample }: Omit<LibraryRow, 'id'>): void {
    this.#sql.run('UPDATE library SET name = ?, sample = ? WHERE id = ?', name, Number(sample), id);
  }

  /** Hides the library from now on from everything but its deletion. */
  doom(id: number): void {
    this.#sql.run('UPDATE library SET doomed = 1 WHERE id = ?', id);
  }

  /** Moves a root and its documents into a separate doomed library; returns its id. */
  doomRoot(rootId: number): number {
    return this.#sql.transaction(() => {
      const id = this.create('');
      this.doom(id);
      this.#sql.run('UPDATE root SET library_id = ? WHERE id = ?', id, rootId);
      this.#sql.run('UPDATE document SET library_id = ? WHERE root_id = ?', id, rootId);
      return id;
    });
  }

  /** Libraries whose deletion has started but not finished. */
  doomed(): number[] {
    return this.#sql.column<number>('SELECT id FROM library WHERE doomed ORDER BY id');
  }

  /** Removes it with its roots, documents, texts and chunks. */
  remove(id: number): void {
    this.#sql.run('DELETE FROM library WHERE id = ?', id);
  }

  /** The library that consists of exactly this folder. */
  ofFolder(path: string): number | undefined {
    const query = `SELECT library_id FROM root r WHERE kind <> 'file' AND path = ?
      AND NOT EXISTS (SELECT 1 FROM root o WHERE o.library_id = r.library_id AND o.id <> r.id)
      AND EXISTS (SELECT 1 FROM library l WHERE l.id = r.library_id AND NOT l.doomed) ORDER BY id`;
    return this.#sql.value<number>(query, path);
  }

  /** Of one library; else of all that are not being deleted. */
  roots(libraryId?: number): RootRow[] {
    const where =
      libraryId === undefined
        ? 'WHERE library_id IN (SELECT id FROM library WHERE NOT doomed)'
        : 'WHERE library_id = ?';
    const values = libraryId === undefined ? [] : [libraryId];
    return this.#sql
      .all<RawValues<RootRow>>(`SELECT ${ROOT_COLUMNS} FROM root ${where} ORDER BY id`, ...values)
      .map(toRoot);
  }

  root(id: number): RootRow | undefined {
    const row = this.#sql.get<RawValues<RootRow>>(`SELECT ${ROOT_COLUMNS} FROM root WHERE id = ?`, id);
    return row && toRoot(row);
  }

  /** Adds a root, or finds the one with the same path; returns its id. */
  addRoot(libraryId: number, root: { kind: RootKind; path: string; watched: boolean }): number {
    const sql = `INSERT INTO root (library_id, kind, path, watched) VALUES (?, ?, ?, ?)
      ON CONFLICT (library_id, path) DO UPDATE SET kind = excluded.kind, watched = max(watched, excluded.watched)
      RETURNING id`;
    return this.#sql.value<number>(sql, libraryId, root.kind, root.path, Number(root.watched)) as number;
  }

  setWatched(rootId: number, watched: boolean): void {
    this.#sql.run('UPDATE root SET watched = ? WHERE id = ?', Number(watched), rootId);
  }

  /** True when this changes something. */
  setFailure(rootId: number, failure: Failure | null): boolean {
    const json = failure && JSON.stringify(failure);
    const sql = 'UPDATE root SET failure = ? WHERE id = ? AND failure IS NOT ?';
    return this.#sql.run(sql, json, rootId, json) > 0;
  }

  moveRoot(id: number, path: string): void {
    this.#sql.run('UPDATE OR IGNORE root SET path = ? WHERE id = ?', path, id);
  }

  hasRootAt(path: string): boolean {
    return this.#sql.value('SELECT 1 FROM root WHERE path = ?', path) !== undefined;
  }

  /** Upload folders that are still to be deleted. */
  discardedFolders(): string[] {
    return this.#sql.column<string>('SELECT name FROM discarded_folder');
  }

  discardFolder(name: string): void {
    this.#sql.run('INSERT OR IGNORE INTO discarded_folder (name) VALUES (?)', name);
  }

  forgetDiscarded(name: string): void {
    this.#sql.run('DELETE FROM discarded_folder WHERE name = ?', name);
  }

  removeRoot(id: number): void {
    this.#sql.run('DELETE FROM root WHERE id = ?', id);
  }

  /** Excluded single files: such a root is empty except for leftovers of a crash. */
  removeExcludedFiles(): void {
    this.#sql.run("DELETE FROM root WHERE kind = 'file' AND id IN (SELECT root_id FROM excluded)");
  }

  exclude(rootId: number, path: string): void {
    this.#sql.run('INSERT OR IGNORE INTO excluded (root_id, path) VALUES (?, ?)', rootId, path);
  }

  /** Includes a path, or a folder and everything in it ('' for the whole root), again. */
  include(rootId: number, path: string): void {
    const below = path === '' ? '' : `${path}/`;
    const sql = 'DELETE FROM excluded WHERE root_id = ? AND (path = ? OR substr(path, 1, length(?)) = ?)';
    this.#sql.run(sql, rootId, path, below, below);
  }

  excluded(rootId: number): Set<string> {
    return new Set(this.#sql.column<string>('SELECT path FROM excluded WHERE root_id = ?', rootId));
  }
}

function toLibrary(row: RawValues<LibraryRow>): LibraryRow {
  return { ...row, sample: row.sample === 1 };
}

function toRoot(row: RawValues<RootRow>): RootRow {
  return {
    ...row,
    watched: row.watched === 1,
    failure: row.failure === null ? null : (JSON.parse(row.failure) as Failure),
  };
}
