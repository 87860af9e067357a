import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { StoreFolders } from './store-folders.ts';
import { ChunkStore } from './store.ts';
import {
  FakeModel,
  A,
  B,
  chunkPath,
  fake,
  fakeFiles,
  fill,
  model,
  openTestStore,
  storeFor,
  take,
  tempDir,
  touch,
} from '../testing/store.ts';

describe('put and acquire', () => {
  test('what was put is served as it was', async () => {
    const { store } = await storeFor(9);
    const { key, chunk } = model.encode(10);
    expect(store.has(key)).toBe(false);
    await store.put(key, chunk, { label: 'handbook.md' });
    expect(store.has(key)).toBe(true);
    const lease = await take(store, key, model);
    expect(lease).toMatchObject({ key, tier: 'disk', bytes: 1000 });
    expect(fake(lease.chunk).isRight()).toBe(true);
    lease.release();
    expect(store.list()).toMatchObject([
      { key, label: 'handbook.md', tokens: 3, layers: 2, dtype: 'f16', hits: 1, pinned: false },
    ]);
  });

  test('a key that was never stored is a miss', async () => {
    const { store } = await storeFor(9);
    expect(await store.acquire('0'.repeat(64), model)).toBeUndefined();
    expect(store.stats()).toMatchObject({ misses: 1, hits: { ram: 0, disk: 0 } });
  });

  test('putting again writes nothing; putting twice at once writes once', async () => {
    const { dir, store } = await storeFor(9);
    const { key, chunk } = model.encode(10);
    await Promise.all([store.put(key, chunk), store.put(key, chunk)]);
    const before = readFileSync(chunkPath(dir, key));
    await store.put(key, model.encode(10).chunk);
    expect(readFileSync(chunkPath(dir, key)).equals(before)).toBe(true);
    expect(store.stats()).toMatchObject({ entries: 1, bytes: before.length });
    expect(readdirSync(join(dir, 'tmp'))).toEqual([]);
  });

  test("the chunk stays the caller's", async () => {
    const { store } = await storeFor(9, 1e6);
    const { key, chunk } = model.encode(10);
    await store.put(key, chunk);
    await store.close();
    expect(fake(chunk).disposed).toBe(false);
  });

  test('a chunk under another key is misuse and leaves nothing', async () => {
    const { dir, store } = await storeFor(9);
    await expect(store.put(model.encode(11).key, model.encode(10).chunk)).rejects.toThrow(
      /key does not match the chunk/,
    );
    await expect(store.put('../../etc/x', model.encode(10).chunk)).rejects.toThrow(/ChunkStore.put: key/);
    expect(store.stats().entries).toBe(0);
    expect(readdirSync(join(dir, 'tmp'))).toEqual([]);
  });

  test('entries survive a restart with their uses, labels and pins', async () => {
    const { dir, store, each } = await storeFor(9);
    await fill(store, 2);
    await touch(store, A);
    store.pin(B);
    await store.close();
    const again = await openTestStore({ dir });
    expect(again.list()).toMatchObject([
      { key: A, hits: 1, pinned: false, bytes: each },
      { key: B, hits: 0, pinned: true, bytes: each },
    ]);
    expect(again.recovery).toMatchObject({
      adopted: 0,
      rowsDropped: 0,
      quarantined: [],
      tempFilesRemoved: 0,
      evicted: 0,
    });
  });
});

describe('after close', () => {
  const methods: [string, (store: ChunkStore) => unknown][] = [
    ['has', (store) => store.has('0'.repeat(64))],
    ['isOpen', (store) => store.isOpen(A)],
    ['put', (store) => store.put(model.encode(10).key, model.encode(10).chunk)],
    ['acquireMany', (store) => store.acquireMany([A], model)],
    ['acquire', (store) => store.acquire('0'.repeat(64), model)],
    ['reportCorrupt', (store) => store.reportCorrupt('0'.repeat(64))],
    ['reportUnreadable', (store) => store.reportUnreadable('0'.repeat(64))],
    ['prefetch', (store) => store.prefetch(A, model)],
    ['borrow', (store) => store.borrow(A, model, () => Promise.resolve(1))],
    ['forget', (store) => store.forget(model)],
    ['idle', (store) => store.idle()],
    ['pin', (store) => store.pin('0'.repeat(64))],
    ['unpin', (store) => store.unpin('0'.repeat(64))],
    ['list', (store) => store.list()],
    ['after', (store) => store.after('', 1)],
    ['entry', (store) => store.entry('0'.repeat(64))],
    ['similar', (store) => store.similar({ fingerprint: '', dtype: 'f16', tokens: Int32Array.of(1) })],
    ['folders.space', (store) => store.folders.space()],
    ['stats', (store) => store.stats()],
    ['totals', (store) => store.totals()],
    ['verify', (store) => store.verify()],
    ['evict', (store) => store.evict({ all: true })],
    ['serve', (store) => store.serve({ fingerprint: 'a', dtype: 'f16' })],
    ['hasRoom', (store) => store.hasRoom(1)],
    ['found', (store) => store.found(A)],
    ['used', (store) => store.used(A, { class: 'question' })],
    ['setPolicy', (store) => store.setPolicy('lru')],
    ['setBudget', (store) => store.setBudget({ diskBytes: 1 })],
    ['folders.readSpeed', (store) => store.folders.readSpeed('0'.repeat(16))],
    ['isAway', (store) => store.isAway(A)],
    ['path', (store) => store.path(A)],
    ['folders.set', (store) => store.folders.set({ id: '0'.repeat(16), path: '/none', budgetBytes: 1 })],
    ['folders.remove', (store) => store.folders.remove('0'.repeat(16))],
    ['folders.detach', (store) => store.folders.detach('0'.repeat(16))],
    ['folders.rankBy', (store) => store.folders.rankBy(() => [])],
    ['folders.check', (store) => store.folders.check()],
    ['folders.onChange', (store) => store.folders.onChange(() => undefined)],
  ];

  test.each(methods)('%s is misuse', async (name, call) => {
    const { store } = await storeFor(9);
    await store.close();
    await expect(Promise.resolve().then(() => call(store))).rejects.toThrow(
      new TypeError(`ChunkStore.${name}: the store is closed.`),
    );
  });

  test('the table above has every public method', () => {
    const all = [
      ...Object.getOwnPropertyNames(ChunkStore.prototype),
      ...Object.getOwnPropertyNames(StoreFolders.prototype).map((name) => `folders.${name}`),
    ].filter((name) => !/^(close|(folders\.)?constructor)$/.test(name));
    expect(methods.map(([name]) => name).sort()).toEqual(all.sort());
  });

  test('close twice is fine, and waits for calls under way', async () => {
    const { dir, store } = await storeFor(9);
    const { key, chunk } = model.encode(10);
    const native = fake(chunk);
    const save = native.save.bind(native);
    native.save = async (path) => {
      await setTimeout(30);
      return save(path);
    };
    const put = store.put(key, chunk);
    await Promise.all([store.close(), store.close()]);
    await put;
    expect((await openTestStore({ dir })).has(key)).toBe(true);
  });

  test('close ends a verify with ABORTED', async () => {
    const dir = tempDir();
    const store = await openTestStore({ dir });
    await fill(store, 3);
    const verify = store.verify(() => void store.close());
    await expect(verify).rejects.toMatchObject({ code: 'ABORTED' });
  });
});

test('totals by model and number format', async () => {
  const dir = tempDir();
  const store = await openTestStore({ dir });
  expect(store.totals()).toEqual([]);
  await fill(store, 2);
  const foreign = new FakeModel('0'.repeat(64)).encode(1);
  await store.put(foreign.key, foreign.chunk);
  const entries = store.list();
  const own = entries.filter(({ fingerprint }) => fingerprint === model.fingerprint);
  expect(store.totals()).toEqual([
    expect.objectContaining({ fingerprint: '0'.repeat(64), dtype: 'f16', entries: 1, tokens: 3 }),
    {
      kind: 'chunk',
      fingerprint: model.fingerprint,
      dtype: 'f16',
      entries: 2,
      tokens: 6,
      bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
    },
  ]);
  expect(store.entry(foreign.key)).toEqual(entries.find(({ key }) => key === foreign.key));
  expect(store.entry('f'.repeat(64))).toBeUndefined();
  await store.evict({ keys: [foreign.key] });
  const [left, ...others] = store.totals();
  expect([left?.entries, others]).toEqual([2, []]);
  await store.close();
  expect((await openTestStore({ dir })).totals()).toEqual([left]);
});

test('misuse of options names the argument', async () => {
  const options = { dir: tempDir(), ramBudgetBytes: 0, files: fakeFiles };
  await expect(ChunkStore.open({ ...options, diskBudgetBytes: -1 })).rejects.toThrow(/diskBudgetBytes/);
  await expect(ChunkStore.open({ ...options, diskBudgetBytes: NaN })).rejects.toThrow(TypeError);
  await expect(ChunkStore.open({ ...options, diskBudgetBytes: 1, prefixShare: 2 })).rejects.toThrow(
    /prefixShare/,
  );
});
