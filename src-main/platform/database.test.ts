import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase, openOrSetAside, type Database } from './database.ts';

const NOTES = 'CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)';

function temp(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-database-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function notes(...texts: string[]): Database {
  const database = openDatabase(':memory:', [NOTES]);
  onTestFinished(() => database.close());
  for (const text of texts) database.run('INSERT INTO note (text) VALUES (?)', text);
  return database;
}

test('one text gives rows, a row, a column or a value, in any order', () => {
  const database = notes('a', 'b');
  const query = 'SELECT text FROM note ORDER BY id';
  for (let i = 0; i < 2; i++) {
    expect(database.all(query)).toEqual([{ text: 'a' }, { text: 'b' }]);
    expect(database.column(query)).toEqual(['a', 'b']);
    expect(database.get(query)).toEqual({ text: 'a' });
    expect(database.value(query)).toBe('a');
  }
  expect(database.value('SELECT text FROM note WHERE id = @id', { id: 2, more: 'passed over' })).toBe('b');
  expect(database.get('SELECT text FROM note WHERE id = ?', 3)).toBeUndefined();
  expect(database.run('DELETE FROM note')).toBe(2);
});

test('several iterations of one text run at once', () => {
  const database = notes('a', 'b');
  const [one, other] = [1, 2].map(() =>
    database.iterate<{ text: string }>('SELECT text FROM note ORDER BY id'),
  );
  expect(one?.next().value).toEqual({ text: 'a' });
  expect([...(other ?? [])]).toHaveLength(2);
  expect([...(one ?? [])]).toEqual([{ text: 'b' }]);
});

test('a transaction that throws leaves nothing, and what it threw comes out', () => {
  const database = notes();
  const failure = new Error('no');
  expect(() =>
    database.transaction(() => {
      database.run("INSERT INTO note (text) VALUES ('a')");
      throw failure;
    }),
  ).toThrow(failure);
  expect(database.value('SELECT count(*) FROM note')).toBe(0);
});

test('compiling ahead finds what the schema does not have', () => {
  const database = notes();
  database.compile(['SELECT text FROM note']);
  expect(() => database.compile(['SELECT heading FROM note'])).toThrow(/heading/);
});

test("SQLite's failures have a type", () => {
  const database = notes();
  database.pragma('max_page_count = 2');
  const fill = (): number => database.run('INSERT INTO note (text) VALUES (?)', 'x'.repeat(100_000));
  expect(fill).toThrow(expect.objectContaining({ code: 'DISK_FULL' }));
});

test('a file that cannot be read is set aside, and an empty database takes its place', () => {
  const path = join(temp(), 'notes.sqlite');
  writeFileSync(path, 'this is no database '.repeat(100));
  const { database, setAside } = openOrSetAside(path, [NOTES], 'now');
  onTestFinished(() => database.close());
  expect(setAside).toBe(`${path}.corrupt-now`);
  expect(existsSync(`${path}.corrupt-now`)).toBe(true);
  expect(database.all('SELECT * FROM note')).toEqual([]);
});
