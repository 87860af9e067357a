import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { nodeFs, type StoreFs } from './files.ts';
import type { ChunkStore } from './store.ts';
import {
  A,
  B,
  chunkPath,
  C,
  D,
  fake,
  FakeModel,
  fileBytes,
  fill,
  hasFile,
  held,
  model,
  openTestStore,
  storeFor,
  take,
  tempDir,
  touch,
} from '../testing/store.ts';

test('while many entries go, others see how far it is: no transaction takes them all', async () => {
  const { store } = await storeFor(500);
  const keys = await fill(store, 200);
  const seen = new Set<number>();
  const watch = setInterval(() => seen.add(store.stats().entries), 0);
  const { entries } = await store.evict({ keys });
  clearInterval(watch);
  expect(entries).toBe(200);
  expect([...seen].filter((count) => count > 0 && count < 200)).not.toEqual([]);
});

test('of named keys the pinned stay, and what is not stored or named twice does not count', async () => {
  const { store } = await storeFor(9);
  const keys = await fill(store, 4);
  const [first = '', second = ''] = keys;
  store.pin(second);
  const report = await store.evict({ keys: [first, second, first, 'f'.repeat(64)] });
  expect(report).toMatchObject({ entries: 1, kept: 1 });
  expect(held(store, keys)).toEqual([false, true, true, true]);
});

test('what is pinned is counted whatever becomes of it, and after another start', async () => {
  const { dir, store } = await storeFor(9);
  const keys = await fill(store, 3);
  const totals = (of: ChunkStore): object => {
    const pinned = of.list({ pinned: true });
    return { entries: pinned.length, bytes: pinned.reduce((sum, { bytes }) => sum + bytes, 0) };
  };
  const { key, chunk } = model.encode(99);
  await store.put(key, chunk, { pinned: true });
  for (const each of [...keys, ...keys]) expect(store.pin(each)).toBe(true);
  expect(store.stats().pinned).toEqual(totals(store));
  expect(store.stats().pinned.entries).toBe(4);
  store.unpin(key);
  store.unpin(key);
  await store.reportCorrupt(keys[0] ?? '');
  expect(store.stats().pinned).toEqual(totals(store));
  expect(store.stats().pinned.entries).toBe(2);
  await store.close();
  const again = await openTestStore({ dir });
  expect(again.stats().pinned).toEqual(totals(again));
  expect(again.stats().pinned.entries).toBe(2);
});

describe('eviction', () => {
  test('the least recently used goes first', async () => {
    const { dir, store } = await storeFor(3);
    const keys = await fill(store, 3);
    await touch(store, A);
    const { key, chunk } = model.encode(13);
    await store.put(key, chunk);
    expect(held(store, keys)).toEqual([true, false, true]);
    expect(hasFile(dir, B)).toBe(false);
    expect(store.stats()).toMatchObject({ entries: 3, evictions: 1 });
  });

  test('order follows use even when the clock runs backwards', async () => {
    const dir = tempDir();
    let now = 1e12;
    const each = fileBytes(dir, model, 10, 1000);
    const store = await openTestStore({ dir, diskBudgetBytes: 2 * each, clock: () => (now -= 1000) });
    const keys = await fill(store, 2);
    await touch(store, A);
    await store.put(model.encode(12).key, model.encode(12).chunk);
    expect(held(store, keys)).toEqual([true, false]);
  });

  test('bytes on disk never exceed the budget', async () => {
    const { dir, store, each } = await storeFor(3);
    await fill(store, 8);
    const files = readdirSync(join(dir, 'chunks'), { recursive: true }).filter((name) =>
      String(name).endsWith('.kvc'),
    );
    expect(files).toHaveLength(3);
    expect(store.stats().bytes).toBe(3 * each);
  });

  test('pinned entries stay, across restarts too, until they are unpinned', async () => {
    const { dir, store, each } = await storeFor(2);
    const keys = await fill(store, 2);
    expect(store.pin(A)).toBe(true);
    expect(store.pin('0'.repeat(64))).toBe(false);
    await store.close();
    const again = await openTestStore({ dir, diskBudgetBytes: 2 * each });
    await again.put(model.encode(12).key, model.encode(12).chunk);
    expect(held(again, keys)).toEqual([true, false]);
    expect(again.unpin(A)).toBe(true);
    await again.evict({ all: true });
    expect(again.stats().entries).toBe(0);
  });

  test('a leased entry stays and is usable; it can go after its release', async () => {
    const { store } = await storeFor(2);
    await fill(store, 2);
    const lease = await take(store, A, model);
    expect(await store.evict({ all: true })).toMatchObject({ entries: 1, kept: 1 });
    expect(fake(lease.chunk).isRight()).toBe(true);
    expect(store.list()).toMatchObject([{ key: A, leases: 1 }]);
    lease.release();
    lease.release();
    expect(await store.evict({ all: true })).toMatchObject({ entries: 1, kept: 0 });
  });

  test('two leases of one entry: it stays until both are released', async () => {
    const { store } = await storeFor(2);
    await fill(store, 1);
    const first = await take(store, A, model);
    const second = await take(store, A, model);
    first.release();
    first.release();
    await store.evict({ all: true });
    expect(fake(second.chunk).isRight()).toBe(true);
    expect(store.has(A)).toBe(true);
    second.release();
    expect(await store.evict({ all: true })).toMatchObject({ entries: 1 });
  });

  test('no room because all is pinned or leased: refused, nothing lost', async () => {
    const { store } = await storeFor(2);
    const keys = await fill(store, 2);
    store.pin(A);
    const lease = await take(store, B, model);
    const { key, chunk } = model.encode(12);
    await expect(store.put(key, chunk)).rejects.toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringMatching(/pinned or in use/) as string,
    });
    expect(held(store, keys)).toEqual([true, true]);
    lease.release();
    await store.put(key, chunk);
    expect(store.has(key)).toBe(true);
  });

  test.each(['lru', 'workload-aware'] as const)(
    'a chunk that a prompt computed counts as used (%s)',
    async (policy) => {
      const dir = tempDir();
      let now = 1e12;
      const store = await openTestStore({
        ...{ dir, policy, clock: () => now },
        diskBudgetBytes: 2.5 * fileBytes(dir, model, 10, 1000),
      });
      const keys = await fill(store, 2);
      for (const key of keys) (await take(store, key)).release();
      now += 60_000;
      store.used(A, { class: 'question' });
      store.used('f'.repeat(64), { class: 'question' });
      now += 60_000;
      await store.put(C, model.encode(12).chunk);
      expect(held(store, [A, B, C])).toEqual([true, false, true]);
      expect(store.stats()).toMatchObject({ hits: { disk: 2 }, misses: 0 });
    },
  );

  test('a chunk larger than the budget is refused, and nothing is evicted for it', async () => {
    const { dir, store } = await storeFor(2);
    const keys = await fill(store, 2);
    const { key, chunk } = model.encode(12, 9000);
    await expect(store.put(key, chunk)).rejects.toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringMatching(/cannot fit a chunk/) as string,
      advice: expect.stringMatching(/budget/) as string,
    });
    expect(held(store, keys)).toEqual([true, true]);
    expect(readdirSync(join(dir, 'tmp'))).toEqual([]);
  });

  test('evict by bytes and key; kept says what a pin held back', async () => {
    const dir = tempDir();
    let now = 1000;
    const store = await openTestStore({ dir, clock: () => now });
    const keys = await fill(store, 4);
    const each = store.stats().bytes / 4;
    now = 5000;
    await touch(store, D);
    store.pin(C);
    expect(await store.evict({ bytes: 1 })).toEqual({ entries: 1, bytes: each, kept: 0 });
    expect(held(store, keys)).toEqual([false, true, true, true]);
    expect(await store.evict({ keys: [B, C] })).toEqual({ entries: 1, bytes: each, kept: 1 });
    expect(await store.evict({ keys: [D, '0'.repeat(64)] })).toEqual({
      entries: 1,
      bytes: each,
      kept: 0,
    });
    expect(await store.evict({ bytes: 10 * each })).toEqual({ entries: 0, bytes: 0, kept: 1 });
    await expect(store.evict({})).rejects.toThrow(TypeError);
    await expect(store.evict({ bytes: -1 })).rejects.toThrow(TypeError);
  });

  test('a smaller budget evicts at once, and at the next start', async () => {
    const { dir, store, each } = await storeFor(4);
    await fill(store, 4);
    expect(await store.setBudget({ diskBytes: 3 * each })).toMatchObject({ entries: 1 });
    await store.close();
    const again = await openTestStore({ dir, diskBudgetBytes: 2 * each });
    expect(again.recovery.evicted).toBe(1);
    expect(again.stats().bytes).toBe(2 * each);
  });

  test.each([
    ['lru', [false, true]],
    ['workload-aware', [true, false]],
  ] as const)('the policy decides what goes first: %s', async (policy, stay) => {
    const dir = tempDir();
    let now = 1e12;
    const store = await openTestStore({ dir, policy, clock: () => now });
    const keys = await fill(store, 2);
    for (let i = 0; i < 50; i++) {
      await touch(store, A, 'question');
      await store.acquire(i.toString(16).padStart(64, '0'), model, { class: 'analysis' });
      now += 60_000;
    }
    await touch(store, B, 'analysis');
    await store.evict({ bytes: 1 });
    expect(held(store, keys)).toEqual(stay);
  });

  test('what the model in use cannot be served goes first, however recently it was used', async () => {
    const { store } = await storeFor(3);
    const old = new FakeModel('b'.repeat(64));
    const { key, chunk } = old.encode(12);
    const keys = [...(await fill(store, 2)), key];
    await store.put(key, chunk);
    (await take(store, key, old)).release();
    store.serve({ fingerprint: model.fingerprint, dtype: 'f16' });
    await store.put(model.encode(13).key, model.encode(13).chunk);
    expect(held(store, keys)).toEqual([true, true, false]);
  });

  test.each(['lru', 'workload-aware'] as const)(
    'computed ahead, a library of three times the budget is written once (%s)',
    async (policy) => {
      const dir = tempDir();
      const each = fileBytes(dir, model, 100, 100_000);
      const store = await openTestStore({ dir, policy, diskBudgetBytes: 20.5 * each });
      const old = new FakeModel('b'.repeat(64));
      const put = async (by: FakeModel, id: number): Promise<number> => {
        const { key, chunk } = by.encode(id, 100_000);
        if (!store.hasRoom(100_000)) return 0;
        await store.put(key, chunk, { ahead: true });
        return store.entry(key)?.bytes ?? 0;
      };
      for (let id = 100; id < 160; id++) await put(old, id);
      store.serve({ fingerprint: model.fingerprint, dtype: 'f16' });
      let written = 0;
      for (let id = 100; id < 160; id++) written += await put(model, id);
      const totals = store.totals().filter(({ fingerprint }) => fingerprint === model.fingerprint);
      expect(totals).toMatchObject([{ entries: 20 }]);
      expect(written / (totals[0]?.bytes ?? 0)).toBeLessThanOrEqual(1.1);
      expect(store.stats().entries).toBe(20);
    },
  );

  test('what nobody asked for takes the place of what was not used for long, and of nothing else', async () => {
    const dir = tempDir();
    let now = 1e12;
    const each = fileBytes(dir, model, 10, 1000);
    const options = { policy: 'workload-aware', diskBudgetBytes: 2 * each, clock: () => now } as const;
    const store = await openTestStore({ dir, ...options });
    const ahead = (id: number) => store.put(model.encode(id).key, model.encode(id).chunk, { ahead: true });
    await ahead(10);
    await ahead(11);
    await touch(store, A, 'question');
    await expect(ahead(12)).rejects.toMatchObject({ code: 'CACHE_FULL' });
    await store.put(model.encode(12).key, model.encode(12).chunk);
    expect(held(store, [A, B, C])).toEqual([true, false, true]);
    await touch(store, C, 'question');
    now += 30 * 24 * 3600 * 1000;
    await ahead(13);
    expect(store.has(D)).toBe(true);
  });

  test('ahead of its use, what a search found takes the place of what nobody asked for, and stays', async () => {
    const dir = tempDir();
    const each = fileBytes(dir, model, 10, 100_000);
    const store = await openTestStore({ dir, policy: 'workload-aware', diskBudgetBytes: 3.9 * each });
    const ahead = (id: number) =>
      store.put(model.encode(id).key, model.encode(id, 100_000).chunk, { ahead: true });
    for (const id of [10, 11, 12]) await ahead(id);
    store.found(A);
    expect(store.hasRoom(100_000, D)).toBe(false);
    store.found(D);
    expect(store.hasRoom(100_000, D)).toBe(true);
    await ahead(13);
    expect(held(store, [A, B, C, D])).toEqual([true, false, true, true]);
    expect(store.entry(A)?.hits).toBe(0);

    const [e, f] = [model.encode(14), model.encode(15)];
    store.found(e.key);
    await ahead(14);
    expect(held(store, [A, C, D, e.key])).toEqual([true, false, true, true]);
    store.found(f.key);
    await expect(ahead(15)).rejects.toMatchObject({ code: 'CACHE_FULL' }); // all that is left was found, too
  });

  test('computed again, what was asked for and evicted takes the place of what nobody asked for', async () => {
    const dir = tempDir();
    const each = fileBytes(dir, model, 10, 1000);
    const store = await openTestStore({ dir, policy: 'workload-aware', diskBudgetBytes: 2.9 * each });
    await fill(store, 2);
    expect(await store.acquire(D, model, { class: 'question' })).toBeUndefined();
    await store.put(D, model.encode(13).chunk, { ahead: true });
    expect(held(store, [A, B, D])).toEqual([false, true, true]);
  });

  test('of what one request used, the last in its prompt goes first', async () => {
    const { store } = await storeFor(3);
    const keys = await fill(store, 3);
    const request = {};
    for (const [i, key] of keys.entries())
      (await store.acquire(key, model, { class: 'question', offset: i * 100, request }))?.release();
    await store.put(model.encode(13).key, model.encode(13).chunk);
    expect(held(store, keys)).toEqual([true, true, false]);
  });

  test('what was learned survives a restart, and garbage in its place is harmless', async () => {
    const dir = tempDir();
    let now = 1e12;
    const open = () => openTestStore({ dir, policy: 'workload-aware', clock: () => now });
    const store = await open();
    await fill(store, 2);
    for (let i = 0; i < 50; i++) {
      await touch(store, A, 'question');
      await store.acquire(i.toString(16).padStart(64, '0'), model, { class: 'analysis' });
      now += 60_000;
    }
    await touch(store, B, 'analysis');
    await store.close();
    const copy = tempDir();
    cpSync(dir, copy, { recursive: true });
    const again = await open();
    await again.evict({ bytes: 1 });
    expect(held(again, [A, B])).toEqual([true, false]);

    const db = new Database(join(copy, 'index.db'));
    db.exec(`UPDATE workload SET state = '{"all":7'`);
    db.close();
    const unlearned = await openTestStore({ dir: copy, policy: 'workload-aware', clock: () => now });
    expect(unlearned.recovery.indexSetAside).toBeUndefined();
    expect(held(unlearned, [A, B])).toEqual([true, true]);
    await unlearned.evict({ bytes: 1 });
    expect(unlearned.stats().entries).toBe(1);
  });

  test('an entry whose file someone else has deleted goes too', async () => {
    const { dir, store } = await storeFor(2);
    await fill(store, 1);
    rmSync(chunkPath(dir, A));
    expect(await store.evict({ all: true })).toMatchObject({ entries: 1, kept: 0 });
  });

  test('an entry on its way out is gone for everyone, and can be stored anew', async () => {
    const dir = tempDir();
    const reached = Promise.withResolvers<undefined>();
    const gate = Promise.withResolvers<undefined>();
    const fs: StoreFs = {
      ...nodeFs,
      unlink: async (path) => {
        reached.resolve(undefined);
        await gate.promise;
        await nodeFs.unlink(path);
      },
    };
    const store = await openTestStore({ dir, fs });
    await fill(store, 1);
    const evicted = store.evict({ all: true });
    await reached.promise;
    expect(store.has(A)).toBe(false);
    expect(store.pin(A)).toBe(false);
    expect(await store.acquire(A, model)).toBeUndefined();
    const again = store.put(A, model.encode(10).chunk);
    gate.resolve(undefined);
    await Promise.all([evicted, again]);
    expect(fake((await take(store, A)).chunk).isRight()).toBe(true);
  });
});
