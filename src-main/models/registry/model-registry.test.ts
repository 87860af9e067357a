import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase, type QuarantinedDatabase } from '../../platform/database.ts';
import { DownloadTable } from '../sources/downloads/download-table.ts';
import { MIGRATIONS, ModelRegistry } from './model-registry.ts';

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-registry-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Opens a file as the model list; returns what was set aside. */
function open(path: string): { models: number; setAside: QuarantinedDatabase[] } {
  const setAside: QuarantinedDatabase[] = [];
  const registry = new ModelRegistry(path, (what) => setAside.push(what));
  const models = registry.all().length;
  registry.close();
  return { models, setAside };
}

test.each([
  ['a header whose bytes were zeroed', "UPDATE model SET header = zeroblob(0) || ''"],
  ['a header that was cut', 'UPDATE model SET header = \'{"name":\''],
  ['a failed download that does not say why', "UPDATE download SET failure = '{'"],
])('%s: the list is set aside, and an empty one takes its place', (_, damage) => {
  const path = join(tempDir(), 'models.sqlite');
  const database = openDatabase(path, MIGRATIONS);
  database.exec(`INSERT INTO model (id, path, origin, mtime_ms, header, added_ms) VALUES ('a', '/a', 'imported', 0, '{}', 0);
    INSERT INTO download (id, name, state, failure, added_ms) VALUES ('d', 'n', 'failed', '{}', 0);
    ${damage};`);
  database.close();
  const { models, setAside } = open(path);
  expect(models).toBe(0);
  expect(setAside).toEqual([{ path, keptAs: expect.stringMatching(/\.corrupt-/) as string }]);
  expect(existsSync(setAside[0]?.keptAs ?? '')).toBe(true);
  expect(open(path).setAside).toEqual([]);
});

test('headers of an older version are read again, and say until then what was so', () => {
  const path = join(tempDir(), 'models.sqlite');
  const database = openDatabase(path, MIGRATIONS.slice(0, 3));
  const header = { layers: 2, kvHeads: 4, headDim: 32 };
  const add = `INSERT INTO model (id, path, origin, mtime_ms, header, added_ms) VALUES (?, ?, 'imported', 5, ?, 0)`;
  database.run(add, 'a', '/a', JSON.stringify({ ...header, unsupportedReason: '' }));
  database.run(add, 'b', '/b', JSON.stringify({ ...header, unsupportedReason: 'its architecture' }));
  database.close();
  const registry = new ModelRegistry(path);
  expect(registry.all()).toMatchObject([
    {
      mtimeMs: -1,
      header: { engine: 'blending', obstacle: '', kvValuesPerToken: 512, kvLayers: 2, headDims: [32] },
    },
    { mtimeMs: -1, header: { engine: 'none' } },
  ]);
  registry.close();
});

test('a download of an older version has one file, and goes on where it was', () => {
  const path = join(tempDir(), 'models.sqlite');
  const database = openDatabase(path, MIGRATIONS.slice(0, 7));
  database.exec(
    `INSERT INTO download VALUES ('d', 'http://a/b', 'n', 'cd', 'b.gguf', 'paused', 9, '"e"', NULL, 0)`,
  );
  database.close();
  const registry = new ModelRegistry(path);
  const files = [{ url: 'http://a/b', sha256: 'cd', file: 'b.gguf', bytesTotal: 9, validator: '"e"' }];
  expect(new DownloadTable(registry.database).all()).toEqual([
    { id: 'd', name: 'n', state: 'paused', files, source: null, failure: null },
  ]);
  registry.close();
});

test('what is no database is set aside as it is', () => {
  const path = join(tempDir(), 'models.sqlite');
  writeFileSync(path, 'SQLite format 3\0 and then nothing of the kind'.repeat(100));
  const [{ keptAs } = { keptAs: '' }] = open(path).setAside;
  expect(readFileSync(keptAs, 'utf8')).toContain('nothing of the kind');
});

test('a folder in its place is set aside, too', () => {
  const path = join(tempDir(), 'models.sqlite');
  mkdirSync(join(path, 'inside'), { recursive: true });
  const [{ keptAs } = { keptAs: '' }] = open(path).setAside;
  expect(existsSync(join(keptAs, 'inside'))).toBe(true);
});
