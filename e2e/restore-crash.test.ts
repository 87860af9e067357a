/** A restore under kill -9 between any two of its steps. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BackupService } from '../src-main/backup/backup-service.ts';
import { Catalogue } from '../src-main/catalogue/catalogue.ts';
import { SCHEMAS } from '../src-main/databases.ts';
import { EventBus } from '../src-main/platform/event-bus.ts';
import { silentLogger } from '../src-main/platform/logger.ts';
import { removeDir, ROOT, tempDir } from './cli-support.ts';
import { startOn } from './support/restore-child.ts';

let dir: string;
beforeAll(() => {
  dir = tempDir();
});
afterAll(() => removeDir(dir));

/** Creates a data folder whose catalogue has a library of this name, with an upload of this text if given. */
function fill(data: string, name: string, upload?: string): void {
  mkdirSync(data, { recursive: true });
  const catalogue = Catalogue.open(join(data, 'catalogue.sqlite'));
  const library = catalogue.libraries.create(name);
  const folder = join(data, 'libraries', 'own');
  if (upload !== undefined) {
    catalogue.libraries.addRoot(library, { kind: 'managed', path: folder, watched: false });
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'a.txt'), upload);
  }
  catalogue.close();
}

/** A data folder with a pending restore of a backup with one upload. */
async function waiting(name: string, present: { upload?: string }): Promise<string> {
  const from = join(dir, `${name}-from`);
  fill(from, 'restored', 'restored text');
  writeFileSync(join(from, 'settings.json'), '{"topK":3}');
  const { path } = await service(from).create();
  const data = join(dir, name);
  fill(data, 'present', present.upload);
  await service(data).restore(path);
  return data;
}

function service(data: string): BackupService {
  return new BackupService({
    data,
    program: '1',
    schemas: SCHEMAS,
    log: silentLogger,
    events: new EventBus(),
  });
}

/** Starts, and is killed before the n-th change of a file; false if it completed. */
function killedAt(data: string, n: number): boolean {
  const child = spawnSync(
    process.execPath,
    [
      '--import',
      join(ROOT, 'tools', 'faults', 'file-calls.mjs'),
      join(ROOT, 'e2e', 'support', 'restore-child.ts'),
      data,
    ],
    { env: { ...process.env, KVASIR_KILL_AT: String(n) }, encoding: 'utf8' },
  );
  if (child.signal !== 'SIGKILL') expect(child.stderr).toBe('');
  return child.signal === 'SIGKILL';
}

function expectRestored(data: string): void {
  const catalogue = Catalogue.open(join(data, 'catalogue.sqlite'));
  try {
    expect(catalogue.libraries.list().map(({ name }) => name)).toEqual(['restored']);
    const [root] = catalogue.libraries.roots();
    expect(readFileSync(join(data, 'libraries', basename(root!.path), 'a.txt'), 'utf8')).toBe(
      'restored text',
    );
  } finally {
    catalogue.close();
  }
  expect(readFileSync(join(data, 'settings.json'), 'utf8')).toBe('{"topK":3}');
  expect(readdirSync(data).filter((name) => name.startsWith('restore'))).toEqual([]);
}

describe.each([
  ['without existing uploads', {}],
  ['over other uploads', { upload: 'present text' }],
])('%s', (name, present) => {
  test('a kill before any file change: the next start completes the restore', async () => {
    const made = await waiting(name, present);
    for (let n = 1; ; n++) {
      const data = join(dir, `${name}-${n}`);
      cpSync(made, data, { recursive: true });
      const killed = killedAt(data, n);
      startOn(data);
      expectRestored(data);
      rmSync(data, { recursive: true });
      if (!killed) {
        expect(n).toBeGreaterThan(4);
        return;
      }
    }
  });
});

test('a backup folder without its files replaces nothing', async () => {
  const data = await waiting('lacking', { upload: 'present text' });
  const ready = join(data, 'restore-ready');
  for (const file of readdirSync(ready)) {
    if (file !== 'manifest.json') rmSync(join(ready, file), { recursive: true });
  }
  writeFileSync(join(data, 'settings.json'), '{"topK":7}');
  startOn(data);
  const catalogue = Catalogue.open(join(data, 'catalogue.sqlite'));
  expect(catalogue.libraries.list().map(({ name }) => name)).toEqual(['present']);
  catalogue.close();
  expect(readFileSync(join(data, 'libraries', 'own', 'a.txt'), 'utf8')).toBe('present text');
  expect(readFileSync(join(data, 'settings.json'), 'utf8')).toBe('{"topK":7}');
  expect(existsSync(ready)).toBe(false);
});
