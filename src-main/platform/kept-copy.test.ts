import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from './database.ts';

const NOTES = 'CREATE TABLE note (text TEXT NOT NULL)';

test('the copy before a migration is complete, whatever a killed process left of one', () => {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-copy-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'notes.sqlite');
  const old = openDatabase(path, [NOTES]);
  old.run("INSERT INTO note VALUES ('kept')");
  old.close();
  for (const suffix of ['', '-journal']) writeFileSync(`${path}.v1.part${suffix}`, 'half of it');
  openDatabase(path, [NOTES, 'CREATE TABLE more (text TEXT)']).close();
  const copy = new SQLite(`${path}.v1`, { readonly: true });
  expect(copy.prepare('SELECT text FROM note').pluck().all()).toEqual(['kept']);
  copy.close();
  for (const suffix of ['', '-journal']) expect(existsSync(`${path}.v1.part${suffix}`)).toBe(false);
});
