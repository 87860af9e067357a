import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openIndex } from './open-index.ts';
import { MIGRATIONS } from './schema.ts';
import { A, B, fill, openTestStore, storeFor, tempDir, touch } from '../testing/store.ts';

const options = { now: 1e12, onFlushFailed: () => undefined };

/** Name → hash of everything in a folder, except the lock. */
function contents(dir: string): Record<string, string> {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const paths = files
    .map((file) => join(file.parentPath, file.name))
    .filter((path) => !path.endsWith('lock.db'));
  return Object.fromEntries(
    paths.map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]),
  );
}

async function filledStore(): Promise<string> {
  const { dir, store } = await storeFor(9);
  await fill(store, 2);
  await store.close();
  return dir;
}

test('an index of a newer version is refused and nothing is touched', async () => {
  const dir = await filledStore();
  const db = new Database(join(dir, 'index.db'));
  db.pragma('user_version = 999');
  db.close();
  const before = contents(dir);
  for (let i = 0; i < 2; i++) {
    await expect(openTestStore({ dir })).rejects.toMatchObject({
      code: 'STORE_VERSION',
      message: expect.stringMatching(
        /newer version of Kvasir \(index version 999; this one knows 8\)\.$/,
      ) as string,
      advice: expect.stringMatching(/Update Kvasir/) as string,
    });
  }
  expect(contents(dir)).toEqual(before);
});

test('a newer version that is only in the write-ahead log yet is seen too', async () => {
  const dir = await filledStore();
  const crashed = tempDir();
  const db = new Database(join(dir, 'index.db'));
  db.pragma('user_version = 999');
  cpSync(dir, crashed, { recursive: true });
  db.close();
  rmSync(join(crashed, 'index.db-shm'), { force: true });
  const before = contents(crashed);
  expect(Object.keys(before)).toContain(join(crashed, 'index.db-wal'));
  await expect(openTestStore({ dir: crashed })).rejects.toMatchObject({ code: 'STORE_VERSION' });
  expect(contents(crashed)).toEqual(before);
});

test('an older index is copied, then migrated', async () => {
  const dir = await filledStore();
  const path = join(dir, 'index.db');
  const migrations = [...MIGRATIONS, 'CREATE TABLE extra (x INTEGER) STRICT;'];
  const { index, backup, setAside } = await openIndex(path, { ...options, migrations });
  expect(index.entriesIn('')).toBe(2);
  index.close();
  expect(setAside).toBeUndefined();
  expect(backup).toBe(`${path}.v${MIGRATIONS.length}-backup-20010909T014640000Z`);
  const copy = new Database(backup, { readonly: true });
  expect(copy.pragma('user_version', { simple: true })).toBe(MIGRATIONS.length);
  expect(copy.prepare('SELECT count(*) FROM chunks').pluck().get()).toBe(2);
  copy.close();
  const again = await openIndex(path, { ...options, migrations });
  expect(again.backup).toBeUndefined();
  again.index.close();
  await expect(openTestStore({ dir })).rejects.toMatchObject({ code: 'STORE_VERSION' });
});

/** Converts a store's index back to the first version, including its rows. */
function toFirstVersion(dir: string): void {
  const db = new Database(join(dir, 'index.db'));
  db.exec(`DROP TABLE deletions; DROP INDEX chunks_by_kind; DROP TABLE fingerprints; DROP TABLE sketches; DROP TABLE sweep; DROP TABLE workload; DROP INDEX chunks_by_group; ALTER TABLE chunks DROP COLUMN folder; ALTER TABLE chunks DROP COLUMN kind; ALTER TABLE chunks DROP COLUMN class;
    ALTER TABLE chunks DROP COLUMN use_offset; PRAGMA user_version = 1`);
  db.close();
}

test('an index of the first version: its entries are chunks, with their uses and pins', async () => {
  const { dir, store } = await storeFor(9);
  await fill(store, 2);
  await touch(store, A);
  store.pin(B);
  const before = store.list();
  await store.close();
  toFirstVersion(dir);
  const again = await openTestStore({ dir });
  expect(again.recovery).toMatchObject({ adopted: 0, rowsDropped: 0, indexSetAside: undefined });
  expect(existsSync(again.recovery.indexBackup ?? '')).toBe(true);
  expect(again.list()).toEqual(before);
  expect(before.map((entry) => entry.class)).toEqual(['other 1', 'precompute']);
  expect(before.map(({ kind }) => kind)).toEqual(['chunk', 'chunk']);
});

test("an index of version 7: its entries are in the store's own folder", async () => {
  const { dir, store } = await storeFor(9);
  await fill(store, 2);
  store.pin(B);
  const before = store.list();
  await store.close();
  const db = new Database(join(dir, 'index.db'));
  db.exec(`DROP TABLE deletions; DROP INDEX chunks_by_group; ALTER TABLE chunks DROP COLUMN folder;
    CREATE INDEX chunks_by_group ON chunks (kind, fingerprint, dtype, class, use_order, use_offset DESC) WHERE NOT pinned;
    PRAGMA user_version = 7`);
  db.close();
  const again = await openTestStore({ dir });
  expect(again.recovery).toMatchObject({ adopted: 0, rowsDropped: 0, indexSetAside: undefined });
  expect(again.list()).toEqual(before);
  expect(before.map(({ folder, away }) => ({ folder, away }))).toEqual([
    { folder: '', away: false },
    { folder: '', away: false },
  ]);
});

test('a crash in the middle of a migration leaves the old version, which is migrated at the next start', async () => {
  const dir = await filledStore();
  toFirstVersion(dir);
  const crashed = tempDir();
  const db = new Database(join(dir, 'index.db'));
  db.pragma('journal_mode = WAL');
  db.exec('BEGIN');
  db.exec(MIGRATIONS[1] ?? '');
  db.pragma('cache_spill = 1');
  cpSync(dir, crashed, { recursive: true });
  db.exec('ROLLBACK');
  db.close();
  rmSync(join(crashed, 'index.db-shm'), { force: true });
  const store = await openTestStore({ dir: crashed });
  expect(store.recovery).toMatchObject({ adopted: 0, indexSetAside: undefined });
  expect(existsSync(store.recovery.indexBackup ?? '')).toBe(true);
  expect(store.list().map(({ key }) => key)).toContain(A);
});

test('a new index is made without a backup', async () => {
  const { dir } = await storeFor(9);
  const files = readdirSync(dir).filter((name) => !/-(wal|shm)$/.test(name));
  expect(files.sort()).toEqual(['chunks', 'index.db', 'lock.db', 'quarantine', 'tmp']);
});

test('a folder in its place is set aside', async () => {
  const dir = await filledStore();
  const path = join(dir, 'index.db');
  rmSync(path);
  mkdirSync(path);
  const { index, setAside } = await openIndex(path, options);
  expect(existsSync(setAside ?? '')).toBe(true);
  index.close();
});

test.each([
  ["another program's database", 'CREATE TABLE notes (x)'],
  ['ours, with a column gone', ''],
])('%s is set aside', async (_, sql) => {
  const dir = await filledStore();
  const path = join(dir, 'index.db');
  const db = new Database(path);
  if (sql) db.exec(`DROP TABLE chunks; ${sql}; PRAGMA application_id = 0; PRAGMA user_version = 0`);
  else db.exec('ALTER TABLE chunks DROP COLUMN label');
  db.close();
  const { index, setAside } = await openIndex(path, options);
  expect(existsSync(setAside ?? '')).toBe(true);
  expect(index.entriesIn('')).toBe(0);
  expect(index.get(A)).toBeUndefined();
  index.close();
});

test.each([
  ['bytes', -1],
  ['bytes', 2 ** 60],
  ['tokens', 0],
  ['layers', 0],
  ['format_version', -3],
  ['pinned', 2],
  ['hits', -1],
  ['last_used_at', 9e15],
  ['use_order', 2 ** 60],
  ['use_offset', -1],
  ['dtype', "'f64'"],
  ['kind', "'chunky'"],
  ['key', "'../../x'"],
  ['key', "'~'"], // after every key that can be
])('an index whose %s is %s is set aside, and rebuilt from the files', async (column, value) => {
  const dir = await filledStore();
  const db = new Database(join(dir, 'index.db'));
  db.pragma('foreign_keys = OFF');
  db.exec(`UPDATE chunks SET ${column} = ${String(value)} WHERE key = '${A}'`);
  db.close();
  const store = await openTestStore({ dir });
  expect(existsSync(store.recovery.indexSetAside ?? '')).toBe(true);
  expect(store.list().map(({ key }) => key)).toContain(A);
  expect(store.stats().entries).toBe(2);
});

test('what is written comes into the file while the store is open, on the thread of checkpoints', async () => {
  const { dir, store } = await storeFor(9);
  const inFile = (): number => statSync(join(dir, 'index.db')).size;
  const before = inFile();
  await fill(store, 9);
  await expect.poll(inFile, { timeout: 10_000 }).toBeGreaterThan(before);
  await store.close();
});
