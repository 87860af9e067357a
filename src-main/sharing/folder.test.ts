import { chmodSync, mkdirSync, readdirSync, renameSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { canMount, mountTmpfs, tempDir } from '../testing/store.ts';
import { FolderDriver } from './drivers/folder.ts';
import { nameOf } from './names.ts';
import { keyOf, machine, readAll, share, someFile } from './sharing.test-support.ts';

function driver(dir: string, { readOnly = false, limitBytes = Infinity } = {}): FolderDriver {
  return new FolderDriver({ dir, readOnly, limitBytes });
}

const reasonOf = (cache: ReturnType<typeof machine>): string | undefined => cache.failure?.values?.['reason'];
const name = (id: number): string => nameOf(keyOf(id), '', undefined);
const files = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(dir, path)).isFile(),
  );

test('a folder that is read only for us is read, and nothing in it is written or touched', async () => {
  const dir = tempDir();
  await share(machine(driver(dir)), 1, someFile(1000).path);
  const [file = ''] = files(dir);
  utimesSync(join(dir, file), 1, 1);
  const reader = machine(driver(dir, { readOnly: true }), { writable: false });
  expect((await readAll(reader, 1))?.length).toBe(1000);
  await share(reader, 2, someFile(1000).path);
  expect(files(dir)).toEqual([file]);
  expect(statSync(join(dir, file)).mtimeMs).toBe(1000);
});

test.skipIf(process.platform === 'win32' || process.getuid?.() === 0)(
  'a folder we may not write says so',
  async () => {
    const dir = tempDir();
    chmodSync(dir, 0o555);
    onTestFinished(() => chmodSync(dir, 0o755));
    const cache = machine(driver(dir));
    await share(cache, 1, someFile(10).path);
    expect(reasonOf(cache)).toBe('sharing-readOnly');
  },
);

test.skipIf(process.platform === 'win32').each([0o2775, 0o770, 0o700])(
  'whoever may use the shared folder may use what lies in it, though what this process makes is its own (%o)',
  async (mode) => {
    const umask = process.umask(0o077); // as platform/private-data.ts sets it
    onTestFinished(() => void process.umask(umask));
    const dir = tempDir();
    chmodSync(dir, mode);
    await share(machine(driver(dir)), 1, someFile(1000).path);
    const [file = ''] = files(dir);
    expect(statSync(join(dir, dirname(file))).mode & 0o7777).toBe(mode);
    expect(statSync(join(dir, file)).mode & 0o7777).toBe(mode & 0o666);
  },
);

test('a folder that is not there is a drive that is not connected: it is never made', async () => {
  const dir = join(tempDir(), 'mnt');
  const cache = machine(driver(dir), { probeMs: 20 });
  await share(cache, 1, someFile(10).path);
  expect(reasonOf(cache)).toBe('sharing-noFolder');
  expect(cache.available).toBe(false);
  mkdirSync(dir);
  await expect.poll(() => cache.figures.written).toBe(1);
  expect(cache.available).toBe(true);
});

test('above its limit the least recently used values are deleted, and no foreign files', async () => {
  const dir = tempDir();
  const foreign = [join(dir, 'notes.txt'), join(dir, name(1).slice(0, 2), 'photo.kvs')];
  const cache = machine(driver(dir, { limitBytes: 3500 }));
  for (const id of [1, 2, 3]) await share(cache, id, someFile(1000).path);
  for (const path of foreign) writeFileSync(path, 'x'.repeat(4000));
  const at = (id: number): string => join(dir, name(id).slice(0, 2), `${name(id)}.kvs`);
  for (const [id, time] of [
    [1, 2e9],
    [2, 1000],
    [3, 2000],
  ] as const)
    utimesSync(at(id), time / 1000, time / 1000);
  expect((await readAll(cache, 2))?.length).toBe(1000); // now it is used
  await share(cache, 4, someFile(1000).path);
  const there = (): Promise<Set<string>> => machine(driver(dir)).has([1, 2, 3, 4].map(keyOf));
  await expect.poll(there).toEqual(new Set([1, 2, 4].map(keyOf)));
  for (const path of foreign) expect(statSync(path).size).toBe(4000);
  await share(cache, 5, someFile(4000).path); // larger than the whole limit
  expect(await machine(driver(dir)).has([keyOf(5)])).toEqual(new Set());
});

test('what a dead writer left goes after a day, and is never served', async () => {
  const dir = tempDir();
  const fan = join(dir, name(1).slice(0, 2));
  mkdirSync(fan);
  const [old, young] = ['0', '1'].map((digit) => join(fan, `${name(1)}.${digit.repeat(16)}.tmp`)) as [
    string,
    string,
  ];
  for (const path of [old, young]) writeFileSync(path, 'half');
  utimesSync(old, 1, 1);
  const cache = machine(driver(dir, { limitBytes: 1e6 }));
  expect(await cache.has([keyOf(1)])).toEqual(new Set());
  await share(cache, 2, someFile(10).path);
  await expect.poll(() => readdirSync(fan)).toEqual([`${name(1)}.${'1'.repeat(16)}.tmp`]);
});

test('a file that was evicted before its turn is passed over', async () => {
  const dir = tempDir();
  const cache = machine(driver(dir));
  const { path } = someFile(10);
  cache.offer(keyOf(1), path);
  renameSync(path, `${path}.gone`);
  await share(cache, 2, someFile(10).path);
  expect(cache.figures.written).toBe(1);
  expect(cache.waiting).toBe(0);
  expect(cache.failure).toBeUndefined();
});

test.runIf(canMount)(
  'a full disk stops writing for a while, leaves nothing behind, and reading goes on',
  async () => {
    const dir = mountTmpfs('1m');
    const cache = machine(driver(dir));
    await share(cache, 1, someFile(500_000).path);
    await share(cache, 2, someFile(900_000).path);
    expect(reasonOf(cache)).toBe('sharing-full');
    expect(files(dir)).toHaveLength(1);
    expect(cache.available).toBe(true);
    expect(cache.waiting).toBe(1);
    expect((await readAll(cache, 1))?.length).toBe(500_000);
  },
);
