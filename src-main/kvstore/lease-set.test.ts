import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { A, chunkPath, FakeModel, fill, flip, held, model, storeFor, take, touch } from '../testing/store.ts';

test('a set of leases reads each file once and keeps its chunks in memory', async () => {
  const opener = new FakeModel();
  const { dir, store } = await storeFor(9, 2500);
  const keys = await fill(store, 4);
  const read: string[] = [];
  opener.onOpen = (path) => void read.push(path);
  const set = await store.acquireMany([A, ...keys.slice(0, 2), '0'.repeat(64)], opener);
  expect([...set.leases.values()].map(({ key, tier }) => [key, tier])).toEqual(
    keys.slice(0, 2).map((key) => [key, 'ram']),
  );
  rmSync(chunkPath(dir, A)); // a second read would be noticed
  for (let question = 0; question < 3; question++) {
    const lease = await take(store, A, opener);
    expect(lease.tier).toBe('ram');
    lease.release();
    await touch(store, keys[2 + (question % 2)] ?? '');
    await store.idle();
  }
  expect(read.filter((path) => path === chunkPath(dir, A))).toHaveLength(1);
  expect(store.stats()).toMatchObject({ hits: { ram: 3 }, leased: 2 });
  set.release();
  set.release();
  expect(store.stats().leased).toBe(0);
});

test('a set larger than the memory budget leases the rest where it is', async () => {
  const { store } = await storeFor(9, 2500);
  const keys = await fill(store, 4);
  const set = await store.acquireMany(keys, model);
  expect([...set.leases.values()].map(({ tier }) => tier)).toEqual(['ram', 'ram', 'disk', 'disk']);
  expect(store.stats().ram.bytes).toBe(2000);
  set.release();
});

test('a damaged file is left out of the set and quarantined; an abort releases all', async () => {
  const { dir, store } = await storeFor(9, 5000);
  const keys = await fill(store, 3);
  const opener = new FakeModel();
  const abort = new AbortController();
  opener.onOpen = (path) => {
    if (path === chunkPath(dir, keys[1] ?? '')) abort.abort();
  };
  await expect(store.acquireMany(keys, opener, abort.signal)).rejects.toMatchObject({ code: 'ABORTED' });
  expect(store.stats().leased).toBe(0);
  flip(chunkPath(dir, keys[2] ?? ''), -1);
  const set = await store.acquireMany(keys, new FakeModel());
  expect([...set.leases.keys()]).toEqual(keys.slice(0, 2));
  set.release();
  await store.idle();
  expect(held(store, keys)).toEqual([true, true, false]);
  expect(store.stats().quarantine.files).toBe(1);
});
