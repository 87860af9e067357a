import { readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import type * as Fs from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { tempDir } from '../testing/store.ts';
import { FolderDriver } from './drivers/folder.ts';
import { machine, share, someFile } from './sharing.test-support.ts';

/** Faults of a simulated network drive. */
interface Drive {
  /** Listing waits for this. */
  listed: Promise<unknown>;
  isKept: (path: string) => boolean;
}
const drive = vi.hoisted((): Drive => ({ listed: Promise.resolve(), isKept: () => false }));

vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof Fs>();
  return {
    ...real,
    readdir: async (path: string) => {
      await drive.listed;
      return real.readdir(path);
    },
    rm: (path: string, options: object) =>
      path.endsWith('.kvs') && drive.isKept(path)
        ? Promise.reject(new Error('EPERM'))
        : real.rm(path, options),
  };
});

afterEach(() => {
  drive.listed = Promise.resolve();
  drive.isKept = () => false;
});

const values = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.kvs'))
    .map((path) => join(dir, path));

/** Machines that fill a folder with values of 1,000 bytes, as many as requested. */
function setUp(limitBytes: number) {
  const dir = tempDir();
  const { path } = someFile(1000);
  const cache = machine(new FolderDriver({ dir, readOnly: false, limitBytes }));
  let last = 0;
  const fill = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await share(cache, last++, path);
  };
  return { dir, cache, fill };
}

test('a full folder is cleared a little below its limit, so that not every write goes through all of it', async () => {
  const { dir, fill } = setUp(20_000);
  await fill(21);
  await expect.poll(() => values(dir).length).toBe(19);
  // Listing removes the files of dead writers: this one remains if nobody listed.
  const [value = ''] = values(dir);
  const left = value.replace('.kvs', `.${'0'.repeat(16)}.tmp`);
  writeFileSync(left, 'half');
  utimesSync(left, 1, 1);
  await fill(1);
  expect(values(dir)).toHaveLength(20);
  expect(statSync(left).size).toBe(4);
  await fill(1);
  await expect.poll(() => values(dir).length).toBe(19);
});

test('a write does not wait until a large folder was counted', async () => {
  const { promise: listed, resolve: list } = Promise.withResolvers<undefined>();
  drive.listed = listed;
  const { dir, cache, fill } = setUp(2000);
  await fill(3);
  expect(cache.figures.written).toBe(3);
  list(undefined);
  await expect.poll(() => values(dir).length).toBeLessThan(3);
});

test('what cannot be removed is passed over; where too little goes nothing more is written', async () => {
  const { dir, cache, fill } = setUp(3000);
  await fill(3);
  const kept = values(dir);
  for (const path of kept) utimesSync(path, 1, 1);
  drive.isKept = (path) => kept.slice(0, 1).includes(path);
  await fill(1);
  await expect.poll(() => values(dir).length).toBe(2);
  expect(values(dir)).toContain(kept[0]);
  drive.isKept = () => true;
  await fill(2);
  await expect
    .poll(async () => {
      await fill(1);
      return cache.failure?.values?.['reason'];
    })
    .toBe('sharing-full');
  expect(values(dir).length).toBeLessThanOrEqual(5);
});

test('a drive that is full at its limit is cleared as well', async () => {
  const { dir, fill } = setUp(3500);
  await fill(3);
  const driver = new FolderDriver({ dir, readOnly: false, limitBytes: 3500 });
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' });
  const value = {
    bytes: 1000,
    // eslint-disable-next-line require-yield -- there is no room for its first piece
    async *pieces(): AsyncGenerator<Buffer> {
      throw full;
    },
  };
  await expect(driver.write('f'.repeat(64), value, new AbortController().signal)).rejects.toBe(full);
  await expect.poll(() => values(dir).length).toBe(2);
});
