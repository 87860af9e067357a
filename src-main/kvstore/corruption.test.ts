import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { silentLogger } from '../platform/logger.ts';
import {
  A,
  B,
  C,
  chunkPath,
  fake,
  fill,
  flip,
  FakeModel,
  hasFile,
  held,
  model,
  openTestStore,
  storeFor,
  take,
  tempDir,
} from '../testing/store.ts';

describe('bad files', () => {
  const damages: [string, (path: string) => void][] = [
    ['a flipped header byte', (path) => flip(path, 0)],
    ['a truncated file', (path) => writeFileSync(path, readFileSync(path).subarray(0, -1))],
    ['an empty file', (path) => writeFileSync(path, '')],
    [
      'bytes at the end',
      (path) => writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from('x')])),
    ],
  ];
  test.each(damages)('%s: quarantined, a miss, logged, and can be put again', async (_, damage) => {
    const logged: string[] = [];
    const log = { ...silentLogger, warn: (message: string) => void logged.push(message) };
    const dir = tempDir();
    const store = await openTestStore({ dir, log });
    await fill(store, 1);
    damage(chunkPath(dir, A));
    expect(await store.acquire(A, model)).toBeUndefined();
    expect(store.has(A)).toBe(false);
    expect(store.stats()).toMatchObject({ entries: 0, bytes: 0, misses: 1, quarantine: { files: 1 } });
    expect(readdirSync(join(dir, 'quarantine'))).toHaveLength(1);
    expect(logged).toEqual(['A chunk file is corrupt and was quarantined.']);
    await fill(store, 1);
    const lease = await take(store, A, model);
    expect(fake(lease.chunk).isRight()).toBe(true);
    lease.release();
  });

  test("a sound file of another chunk in a chunk's place is not served", async () => {
    const { dir, store } = await storeFor(9);
    await fill(store, 2);
    writeFileSync(chunkPath(dir, A), readFileSync(chunkPath(dir, B)));
    expect(await store.acquire(A, model)).toBeUndefined();
    expect(store.stats().quarantine.files).toBe(1);
    expect(model.opened.at(-1)?.disposed).toBe(true);
  });

  test("a file of another model in a chunk's place is quarantined; asking with another model is an error", async () => {
    const other = new FakeModel('b'.repeat(64));
    const { dir, store } = await storeFor(9);
    await fill(store, 1);
    await expect(store.acquire(A, other)).rejects.toMatchObject({ code: 'CHUNK_MISMATCH' });
    expect(store.has(A)).toBe(true);
    const foreign = other.encode(10);
    await store.put(foreign.key, foreign.chunk);
    writeFileSync(chunkPath(dir, A), readFileSync(chunkPath(dir, foreign.key)));
    expect(await store.acquire(A, model)).toBeUndefined();
    expect(store.stats().quarantine.files).toBe(1);
  });

  test('a file that is gone is a miss and loses its row', async () => {
    const { dir, store } = await storeFor(9);
    await fill(store, 1);
    rmSync(chunkPath(dir, A));
    expect(await store.acquire(A, model)).toBeUndefined();
    expect(store.stats()).toMatchObject({ entries: 0, bytes: 0, quarantine: { files: 0 } });
  });

  test('reportCorrupt: never served again, though the lease stays valid until its release', async () => {
    const opener = new FakeModel();
    const { dir, store } = await storeFor(9, 5000);
    await fill(store, 1);
    const lease = await take(store, A, opener);
    await store.reportCorrupt(A);
    await store.reportCorrupt(A);
    expect(opener.live).toBe(1);
    lease.release();
    expect(opener.live).toBe(0);
    expect(await store.acquire(A, opener)).toBeUndefined();
    expect(readdirSync(join(dir, 'quarantine'))).toHaveLength(1);
  });

  test('the use count of a removed entry does not carry over to its successor', async () => {
    const { store } = await storeFor(9);
    await fill(store, 1);
    (await take(store, A)).release();
    await store.reportCorrupt(A);
    await fill(store, 1);
    expect(store.list()).toMatchObject([{ key: A, hits: 0 }]);
  });

  test('a file reported corrupt while it is being opened is not served', async () => {
    const opener = new FakeModel();
    const { store } = await storeFor(9);
    await fill(store, 1);
    opener.onOpen = async (path) => {
      const bytes = readFileSync(path);
      await store.reportCorrupt(A);
      writeFileSync(path, bytes);
    };
    expect(await store.acquire(A, opener)).toBeUndefined();
    expect(opener.live).toBe(0);
  });

  test('verify finds each kind, and the sound ones stay', async () => {
    const { dir, store } = await storeFor(9);
    const keys = await fill(store, 5);
    flip(chunkPath(dir, A), -1); // only a full read detects this
    flip(chunkPath(dir, B), 0);
    rmSync(chunkPath(dir, C));
    const progress: number[] = [];
    const report = await store.verify(({ done, total }) => progress.push(done / total));
    expect(report).toMatchObject({ checked: 5, ok: 2, missing: [C], newerFormat: [] });
    expect(new Set(report.corrupt.map((bad) => bad.key))).toEqual(new Set([A, B]));
    expect(progress).toEqual([0.2, 0.4, 0.6, 0.8, 1]);
    expect(held(store, keys)).toEqual([false, false, false, true, true]);
    expect(store.stats().quarantine.files).toBe(2);
    expect(await store.verify()).toMatchObject({ checked: 2, ok: 2, corrupt: [] });
  });

  test('the quarantine has a cap; the newest files stay', async () => {
    const dir = tempDir();
    const store = await openTestStore({ dir, quarantineCap: { files: 2, bytes: 1e9 } });
    const keys = await fill(store, 4);
    for (const key of keys) await store.reportCorrupt(key);
    const names = readdirSync(join(dir, 'quarantine')).sort();
    expect(names.map((name) => name.split('-')[2]?.slice(0, 64))).toEqual(keys.slice(2));
    await store.close();
    const again = await openTestStore({ dir, quarantineCap: { files: 9, bytes: 10 } });
    expect(again.stats().quarantine.files).toBe(1);
  });
});

describe('a newer chunk format', () => {
  /** Overwrites a file with one of a newer version, as written by a newer Kvasir. */
  function makeNewer(path: string): void {
    writeFileSync(path, readFileSync(path, 'latin1').replace('"version":1', '"version":9'), 'latin1');
  }

  test.each(['acquire', 'verify'] as const)(
    '%s: left alone, a miss, reported, and our own file goes beside it',
    async (method) => {
      const logged: string[] = [];
      const dir = tempDir();
      const store = await openTestStore({
        dir,
        log: { ...silentLogger, warn: (message) => void logged.push(message) },
      });
      await fill(store, 1);
      makeNewer(chunkPath(dir, A));
      const bytes = readFileSync(chunkPath(dir, A));
      if (method === 'verify') expect(await store.verify()).toMatchObject({ newerFormat: [A], corrupt: [] });
      expect(await store.acquire(A, model)).toBeUndefined();
      expect(store.stats()).toMatchObject({
        entries: 0,
        quarantine: { files: 0 },
        newerFormat: { files: 1, bytes: bytes.length },
      });
      expect(logged).toContain('A chunk file was written by a newer version of Kvasir; it is left alone.');
      expect(readFileSync(chunkPath(dir, A)).equals(bytes)).toBe(true);
    },
  );

  test('found at start: left alone, not adopted, not counted', async () => {
    const { dir, store } = await storeFor(9);
    await fill(store, 1);
    await store.close();
    rmSync(join(dir, 'index.db'));
    const path = chunkPath(dir, A, 9);
    writeFileSync(
      path,
      readFileSync(chunkPath(dir, A), 'latin1').replace('"version":1', '"version":9'),
      'latin1',
    );
    const before = readFileSync(path);
    const again = await openTestStore({ dir });
    expect(again.recovery).toMatchObject({
      adopted: 1,
      newerFormat: [`chunks/${A.slice(0, 2)}/${A}.v9.kvc`],
      quarantined: [],
    });
    expect(again.stats()).toMatchObject({ entries: 1, newerFormat: { files: 1 } });
    await again.evict({ all: true });
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(hasFile(dir, A)).toBe(false);
  });
});
