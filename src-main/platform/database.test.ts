import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  rmdirSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { KvasirError } from '../../src-shared/errors.ts';
import { findDamage, isCheckedAtOpen, markSuspect, moveAside } from './damaged-database.ts';
import { databaseError, openDatabase, openOrSetAside, type Database } from './database.ts';

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

test('a durable transaction is synced, also after one that failed; others are not', () => {
  const database = openDatabase(join(temp(), 'notes.sqlite'), [NOTES]);
  onTestFinished(() => database.close());
  const level = (): unknown => database.pragma('synchronous');
  expect(database.durable(level)).toBe(2);
  expect(level()).toBe(1);
  const fail = (): never => {
    throw new Error('no');
  };
  expect(() => database.durable(fail)).toThrow('no');
  expect(level()).toBe(1);
});

test('what is deleted is no longer in the file', () => {
  const path = join(temp(), 'notes.sqlite');
  const database = openDatabase(path, [NOTES]);
  for (let i = 0; i < 500; i++)
    database.run('INSERT INTO note (text) VALUES (?)', `secret ${i} ${'x'.repeat(200)}`);
  database.run('DELETE FROM note WHERE id > 3');
  database.close();
  expect(
    readFileSync(path)
      .toString('latin1')
      .match(/secret \d+/g),
  ).toEqual(['secret 2', 'secret 1', 'secret 0']);
});

test('words of deleted rows leave an index, and those of others stay', () => {
  const path = join(temp(), 'notes.sqlite');
  const index = "CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1)";
  const database = openDatabase(path, [index]);
  const insert = 'INSERT INTO words (rowid, text) VALUES (?, ?)';
  for (let i = 0; i < 300; i++) database.run(insert, i, `common word${i}zq`);
  database.run(insert, 300, 'xylophonequartet');
  for (let i = 0; i < 300; i++) database.run(insert, 301 + i, `common other${i}zq`);
  const inFile = (): boolean => {
    database.pragma('wal_checkpoint(TRUNCATE)');
    return readFileSync(path).includes('phonequartet'); // the first letters may be those of the word before it
  };
  database.run('DELETE FROM words WHERE rowid = 300');
  expect(inFile()).toBe(true);
  let steps = 0;
  for (const _ of database.purgeWords('words')) if (steps++ === 0) database.run(insert, 900, 'meanwhile');
  expect(steps).toBeGreaterThan(0);
  expect(inFile()).toBe(false);
  const found = (word: string): number[] =>
    database.column('SELECT rowid FROM words WHERE words MATCH ?', word);
  expect(found('word7zq')).toEqual([7]);
  expect(found('meanwhile')).toEqual([900]);
  expect(found('common')).toHaveLength(600);
  database.close();
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

test('what could not be committed is not given as if it were there', () => {
  // As on a full disk, this fails only when the statement has returned its row and is committed.
  const late = `CREATE TABLE parent (id INTEGER PRIMARY KEY);
    CREATE TABLE child (id INTEGER PRIMARY KEY, parent REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED)`;
  const database = openDatabase(':memory:', [late]);
  onTestFinished(() => database.close());
  const sql = 'INSERT INTO child (parent) VALUES (7) RETURNING id';
  for (const insert of [() => database.value(sql), () => database.get(sql), () => database.all(sql)])
    expect(insert).toThrow(/FOREIGN KEY/);
  expect(database.value('SELECT count(*) FROM child')).toBe(0);
});

test("SQLite's failures have a type", () => {
  const database = notes();
  database.pragma('max_page_count = 2');
  const fill = (): number => database.run('INSERT INTO note (text) VALUES (?)', 'x'.repeat(100_000));
  expect(fill).toThrow(expect.objectContaining({ code: 'DISK_FULL' }));
});

test('a copy before a migration that cannot be made has a type, and leaves the database as it was', () => {
  const path = filled();
  const migrations = [NAMED, 'CREATE TABLE more (id INTEGER PRIMARY KEY)'];
  mkdirSync(`${path}.v1.part`); // in its way
  expect(() => openDatabase(path, migrations)).toThrow(
    expect.objectContaining({
      code: 'STORE_READ_ONLY',
      message: expect.stringContaining(`The database ${path} could not be opened (`) as string,
    }),
  );
  rmdirSync(`${path}.v1.part`);
  expect(count(openDatabase(path, migrations))).toBe(200);
});

test('a failing disk is not reported as a full one', () => {
  const dir = temp();
  const shm = Object.assign(new Error('disk I/O error'), { code: 'SQLITE_IOERR_SHMSIZE' });
  expect(databaseError(shm, join(dir, 'notes.sqlite'))).toMatchObject({
    code: 'STORE_READ_ONLY',
    message: expect.stringContaining('could not be read or written (SQLITE_IOERR_SHMSIZE)') as string,
  });
  expect(readdirSync(dir)).toEqual([]);
});

const NAMED = 'CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL)';

/** A closed database of several pages. */
function filled(): string {
  const path = join(temp(), 'notes.sqlite');
  const database = openDatabase(path, [NAMED]);
  for (let i = 0; i < 200; i++) database.run('INSERT INTO note (text) VALUES (?)', `${i} ${'x'.repeat(100)}`);
  database.close();
  return path;
}

const count = (database: Database): number => {
  const rows = database.value<number>('SELECT count(*) FROM note');
  database.close();
  return rows ?? 0;
};

/** Opens a file that must be set aside; returns the path under which it was kept. */
function opened(path: string, use = count): { result: number; kept: string | undefined } {
  let kept: string | undefined;
  const result = openOrSetAside(path, [NAMED], use, ({ keptAs }) => (kept = keptAs));
  return { result, kept };
}

describe('a file that cannot be read is set aside, and an empty database takes its place', () => {
  test('one that is no database', () => {
    const path = join(temp(), 'notes.sqlite');
    writeFileSync(path, 'this is no database '.repeat(100));
    const { result, kept } = opened(path);
    expect(result).toBe(0);
    expect(readFileSync(kept!, 'utf8')).toMatch(/^this is no database/);
  });

  test('one with a zeroed page, whichever it is', () => {
    const whole = readFileSync(filled());
    const pages = whole.length / 4096;
    expect(pages).toBeGreaterThan(5);
    for (let page = 0; page < pages; page++) {
      const path = join(temp(), 'notes.sqlite');
      writeFileSync(path, Buffer.from(whole).fill(0, page * 4096, (page + 1) * 4096));
      expect(opened(path).kept).toMatch(/corrupt-/);
    }
  });

  test('one that was cut', () => {
    const path = filled();
    writeFileSync(path, readFileSync(path).subarray(0, 3 * 4096));
    expect(opened(path).kept).toMatch(/corrupt-/);
  });

  test.each([
    ['without a version', 'CREATE TABLE bookmark (url TEXT)'],
    ['of a version that we have too', 'CREATE TABLE bookmark (url TEXT); PRAGMA user_version = 1'],
    ['with a table of the same name', 'CREATE TABLE note (url TEXT); PRAGMA user_version = 1'],
  ])("another program's, %s", (_name, sql) => {
    const path = join(temp(), 'notes.sqlite');
    const foreign = new SQLite(path);
    foreign.exec(sql);
    foreign.close();
    const { result, kept } = opened(path);
    expect(result).toBe(0);
    expect(existsSync(kept!)).toBe(true);
  });

  test('one whose damage shows at the first use', () => {
    const path = filled();
    let uses = 0;
    const { result, kept } = opened(path, (database) => {
      if (uses++ > 0) return count(database);
      throw new KvasirError('STORE_CORRUPT', 'damaged');
    });
    expect(result).toBe(0);
    expect(kept).toMatch(/corrupt-/);
  });

  test('and ids in the new one are none that anybody knows', () => {
    const path = filled();
    writeFileSync(path, 'junk'.repeat(2000));
    const { result } = opened(path, (database) => {
      const given = database.value<number>("INSERT INTO note (text) VALUES ('new') RETURNING id");
      database.close();
      return given ?? 0;
    });
    expect(result).toBeGreaterThan(1_000_000_000);
  });

  test("with its log, which would be taken for the new one's", () => {
    const path = join(temp(), 'notes.sqlite');
    writeFileSync(path, 'pages');
    writeFileSync(`${path}-wal`, 'log');
    const kept = moveAside(path);
    expect([path, `${path}-wal`].filter((left) => existsSync(left))).toEqual([]);
    expect([kept, `${kept}-wal`].map((file) => readFileSync(file, 'utf8'))).toEqual(['pages', 'log']);
  });
});

test('a database locked by another program is reported as such, and works once it is released', () => {
  const path = join(temp(), 'notes.sqlite');
  const database = openDatabase(path, [NOTES]);
  onTestFinished(() => database.close());
  database.pragma('busy_timeout = 10');
  const other = new SQLite(path);
  other.exec('BEGIN EXCLUSIVE');
  const write = (): number => database.run("INSERT INTO note (text) VALUES ('a')");
  expect(write).toThrow(
    expect.objectContaining({
      code: 'DATABASE_HELD',
      message: `The database ${path} is in use by another program, so nothing was written.`,
      advice: expect.not.stringContaining('Kvasir is') as string,
    }),
  );
  expect(database.column('SELECT text FROM note')).toEqual([]);
  other.close();
  expect(write()).toBe(1);
});

test('damage found in use leads to a full check at the next start, however large the file is', () => {
  const path = filled();
  expect(isCheckedAtOpen(path)).toBe(true);
  truncateSync(path, 40 * 2 ** 20);
  expect(isCheckedAtOpen(path)).toBe(false);
  markSuspect(path);
  expect(isCheckedAtOpen(path)).toBe(true);
});

test('a large database is checked while in use, and its damage is found', async () => {
  const path = filled();
  const database = openDatabase(path, [NAMED]);
  const big = 'y'.repeat(2 ** 20);
  for (let i = 0; i < 40; i++) database.run('INSERT INTO note (text) VALUES (?)', big);
  database.pragma('wal_checkpoint(TRUNCATE)');
  const { signal } = new AbortController();
  expect(await findDamage(path, signal)).toBeUndefined();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0, 3 * 4096, 5 * 4096));
  expect(await findDamage(path, signal)).toBeTruthy();
  database.close();
  expect(opened(path).kept).toMatch(/corrupt-/);
});
