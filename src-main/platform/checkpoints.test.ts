import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { Checkpoints } from './checkpoints.ts';
import { Database, openDatabase } from './database.ts';

function temp(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-checkpoints-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Number of rows in the file without its write-ahead log. */
function rowsInFile(path: string): number {
  const copy = `${path}.copy`;
  copyFileSync(path, copy);
  const database = new SQLite(copy, { readonly: true });
  try {
    return database.prepare('SELECT count(*) FROM note').pluck().get() as number;
  } catch {
    return 0; // not even the table, yet
  } finally {
    database.close();
  }
}

test('what is written comes into the file while the database stays open', async () => {
  const path = join(temp(), 'notes.sqlite');
  const database = openDatabase(path, ['CREATE TABLE note (text TEXT NOT NULL)']);
  onTestFinished(() => database.close());
  for (const rows of [1, 2]) {
    database.run("INSERT INTO note VALUES ('a')");
    expect(rowsInFile(path)).toBe(rows - 1);
    await expect.poll(() => rowsInFile(path), { timeout: 20_000 }).toBe(rows);
  }
});

test('a log stays bounded during long writes that rest between steps', async () => {
  const path = join(temp(), 'notes.sqlite');
  const database = openDatabase(path, ['CREATE TABLE note (text TEXT NOT NULL)']);
  onTestFinished(() => database.close());
  const row = 'a'.repeat(50_000);
  let written = 0;
  // Slowly, so that the log stays below the size at which the writing thread checkpoints.
  for (const end = performance.now() + 3000; performance.now() < end; written += row.length) {
    database.run('INSERT INTO note VALUES (?)', row);
    await database.rest();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(statSync(`${path}-wal`).size).toBeLessThan(written);
});

test('what is deleted is overwritten in the file, and after a quiet time in the log', async () => {
  const path = join(temp(), 'notes.sqlite');
  openDatabase(path, ['CREATE TABLE note (text TEXT NOT NULL)']).close();
  const connection = new SQLite(path);
  const database = new Database(connection, undefined, new Checkpoints(path, 700));
  onTestFinished(() => database.close());
  database.pragma('secure_delete = ON');
  const secrets = (): number =>
    [path, `${path}-wal`].reduce(
      (sum, file) => sum + readFileSync(file).toString('latin1').split('secret').length - 1,
      0,
    );
  for (let i = 0; i < 500; i++) database.run('INSERT INTO note VALUES (?)', `secret ${i} ${'x'.repeat(200)}`);
  expect(secrets()).toBeGreaterThan(500);
  database.run('DELETE FROM note WHERE rowid > 3');
  await expect.poll(secrets, { timeout: 20_000 }).toBe(3);
  expect(statSync(`${path}-wal`).size).toBe(0);
});

test('a database that is closed leaves no log, whatever goes on', async () => {
  const dir = temp();
  const databases = Array.from({ length: 20 }, (_, i) => {
    const path = join(dir, `${i}.sqlite`);
    return { path, database: openDatabase(path, ['CREATE TABLE note (text TEXT NOT NULL)']) };
  });
  await new Promise((resolve) => setTimeout(resolve, 1000)); // their checkpoints start now
  for (const { path, database } of databases) {
    database.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
  }
});

const SCATTERED = `CREATE TABLE note (name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE other (data BLOB)`;

/** Writes 3,000 notes to a database of SCATTERED and deletes a half; returns how many of those are still in its files. */
function deleteHalf(database: Database, path: string): () => number {
  // Rows of scattered places, so that SQLite moves others between pages.
  const name = (i: number): string => `${(i * 7919) % 100_003} of ${i}`;
  const row = (i: number): string => `secret${i}x${'y'.repeat((i * 31) % 300)}`;
  for (let i = 0; i < 3000; i++) database.run('INSERT INTO note VALUES (?, ?)', name(i), row(i));
  const gone = new Set(Array.from({ length: 1500 }, (_, i) => (i * 1009) % 3000));
  for (const i of gone) database.run('DELETE FROM note WHERE name = ?', name(i));
  database.forget();
  expect(database.value('SELECT count(*) FROM note')).toBe(3000 - gone.size);
  return () => {
    const files = [path, `${path}-wal`].filter((file) => existsSync(file));
    const bytes = files.map((file) => readFileSync(file).toString('latin1')).join();
    return [...bytes.matchAll(/secret(\d+)x/g)].filter(([, i]) => gone.has(Number(i))).length;
  };
}

test('after a deletion a small database has no copies of deleted rows in its pages', async () => {
  const path = join(temp(), 'notes.sqlite');
  const database = openDatabase(path, [SCATTERED]);
  onTestFinished(() => database.close());
  await expect.poll(deleteHalf(database, path), { timeout: 20_000 }).toBe(0);
});

test('after a deletion a large database has none when it was closed, even if the process was killed before', async () => {
  const path = join(temp(), 'notes.sqlite');
  openDatabase(path, [SCATTERED]).close();
  const connection = new SQLite(path);
  const database = new Database(connection, undefined, new Checkpoints(path));
  database.pragma('secure_delete = ON');
  database.run('INSERT INTO other VALUES (zeroblob(40000000))');
  const left = deleteHalf(database, path);
  await expect.poll(() => statSync(`${path}-wal`).size, { timeout: 20_000 }).toBe(0);
  expect(left()).toBeGreaterThan(0); // what SQLite left when it moved rows
  connection.close();
  expect(left()).toBeGreaterThan(0);
  openDatabase(path, [SCATTERED]).close();
  expect(left()).toBe(0);
  const again = openDatabase(path, [SCATTERED]);
  onTestFinished(() => again.close());
  expect(again.pragma('application_id')).toBe(0);
  expect(again.value('SELECT count(*) FROM note')).toBe(1500);
});
