import { copyFileSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from './database.ts';

function temp(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-checkpoints-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** What the file holds without its log. */
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

test('a log does not grow for as long as much is written, if that rests between its steps', async () => {
  const path = join(temp(), 'notes.sqlite');
  const database = openDatabase(path, ['CREATE TABLE note (text TEXT NOT NULL)']);
  onTestFinished(() => database.close());
  let written = 0;
  for (const end = performance.now() + 4000; performance.now() < end; written += 100_000) {
    database.run('INSERT INTO note VALUES (?)', 'a'.repeat(100_000));
    await database.rest();
    if (written > 100e6) await new Promise((resolve) => setTimeout(resolve, 100));
  }
  expect(statSync(`${path}-wal`).size).toBeLessThan(written);
});

test('a database that is closed leaves no log, whatever goes on', async () => {
  const dir = temp();
  const databases = Array.from({ length: 20 }, (_, i) => {
    const path = join(dir, `${i}.sqlite`);
    return { path, database: openDatabase(path, ['CREATE TABLE note (text TEXT NOT NULL)']) };
  });
  await new Promise((resolve) => setTimeout(resolve, 1000)); // their checkpoints begin now
  for (const { path, database } of databases) {
    database.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
  }
});
