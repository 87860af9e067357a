import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SCHEMAS } from '../src-main/databases.ts';
import { openDatabase } from '../src-main/platform/database.ts';

type Row = Record<string, unknown>;

/** Tables that version 2 of watching.sqlite empties: what was measured before means nothing now. */
const EMPTIED = ['watched', 'blending_limit'];
/** Columns that migrations reset so that a file, or a model's header, is read again. */
const RESET: Record<string, readonly string[]> = {
  document: ['sha256', 'phase', 'attempts', 'failure'],
  chunking: ['sha256'],
  model: ['mtime_ms'],
};

/** A row for every table, with the first value that a CHECK allows. */
function fill(path: string): Map<string, Row> {
  const database = new SQLite(path);
  database.pragma('foreign_keys = OFF');
  const tables = database
    .prepare(
      `SELECT name, sql FROM pragma_table_list JOIN sqlite_schema USING (name)
       WHERE pragma_table_list.type = 'table' AND name NOT LIKE 'sqlite_%'`,
    )
    .all() as { name: string; sql: string }[];
  const rows = new Map<string, Row>();
  for (const { name, sql } of tables) {
    const columns = database.pragma(`table_info(${name})`) as { name: string; type: string }[];
    const row = Object.fromEntries(
      columns.map(({ name: column, type }) => [column, valueOf(column, type, sql)]),
    );
    database
      .prepare(`INSERT INTO ${name} VALUES (${columns.map(() => '?').join(', ')})`)
      .run(...Object.values(row));
    rows.set(name, row);
  }
  database.close();
  return rows;
}

function valueOf(column: string, type: string, sql: string): unknown {
  const allowed = new RegExp(`\\b${column} IN \\('([^']*)'`).exec(sql)?.[1];
  if (allowed !== undefined) return allowed;
  return { INTEGER: 1, REAL: 1.5, BLOB: Buffer.from('bytes') }[type] ?? '[]';
}

const VERSIONS = Object.entries(SCHEMAS).flatMap(([name, migrations]) =>
  Array.from({ length: migrations.length - 1 }, (_, i) => [name, i + 1] as const),
);

describe('a database of an older version', () => {
  test.each(VERSIONS)('%s of version %i: its rows are kept, and so is a copy', (name, version) => {
    const dir = mkdtempSync(join(tmpdir(), 'kvasir-versions-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const path = join(dir, name);
    const migrations = SCHEMAS[name as keyof typeof SCHEMAS];
    openDatabase(path, migrations.slice(0, version)).close();
    const before = fill(path);
    expect(before.size).toBeGreaterThan(0);

    const database = openDatabase(path, migrations);
    expect(database.openedVersion).toBe(version);
    for (const [table, row] of before) {
      const [kept] = tableExists(database, table) ? database.all<Row>(`SELECT * FROM ${table}`) : [];
      if (EMPTIED.includes(table)) expect(kept, table).toBeUndefined();
      else if (kept) expect(kept, table).toMatchObject(stableColumns(table, row, kept));
      else expect(tableExists(database, table), table).toBe(false);
    }
    expect(database.column('PRAGMA integrity_check')).toEqual(['ok']);
    database.close();

    expect(existsSync(`${path}.v${version}`)).toBe(true);
    const copy = new SQLite(`${path}.v${version}`, { readonly: true });
    for (const [table, row] of before) expect(copy.prepare(`SELECT * FROM ${table}`).get()).toEqual(row);
    copy.close();
  });
});

describe('a database of a newer version is refused and left as it is', () => {
  test.each(Object.entries(SCHEMAS))('%s', (name, migrations) => {
    const dir = mkdtempSync(join(tmpdir(), 'kvasir-versions-'));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const path = join(dir, name);
    openDatabase(path, [...migrations, 'CREATE TABLE newer (text TEXT)']).close();
    expect(() => openDatabase(path, migrations)).toThrow(
      expect.objectContaining({ code: 'STORE_VERSION' }) as Error,
    );
    const database = new SQLite(path);
    expect(database.pragma('user_version', { simple: true })).toBe(migrations.length + 1);
    expect(database.prepare('SELECT count(*) FROM newer').pluck().get()).toBe(0);
    database.close();
  });
});

function tableExists(database: ReturnType<typeof openDatabase>, name: string): boolean {
  return database.value("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", name) === 1;
}

function stableColumns(table: string, row: Row, kept: Row): Row {
  return Object.fromEntries(
    Object.entries(row).filter(([column]) => column in kept && !RESET[table]?.includes(column)),
  );
}
