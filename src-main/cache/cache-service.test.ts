import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DEFAULT_DISK_BUDGET } from '../kvstore/budget-proposal.ts';
import { nodeFs } from '../kvstore/files.ts';
import { KV_DTYPES } from '../../src-shared/kv-dtype.ts';
import { cacheOf, model, other, put, QUEUE } from '../testing/cache.ts';
import { chunkPath, tempDir } from '../testing/store.ts';
import { EventBus } from '../platform/event-bus.ts';
import { silentLogger } from '../platform/logger.ts';
import { SettingsService } from '../platform/settings-service.ts';
import { CacheService } from './cache-service.ts';

const PAGE = { offset: 0, limit: 10, search: '', descending: false } as const;

describe('lists', () => {
  test('chunks by document and place; text that occurs twice is one entry', async () => {
    const { cache, store, key } = await cacheOf();
    const gone = await put(store, model, 99, 'gone.txt');
    const foreign = await put(store, other, 1, 'of another model');
    const { total, items } = await cache.entries({ ...PAGE, sort: 'document' });
    expect(total).toBe(6);
    expect(items.map(({ key: k, document, ordinal }) => [k, document, ordinal])).toEqual([
      [key(1), 'a.txt', 0],
      [key(2), 'a.txt', 1],
      [key(3), 'a.txt', 2],
      [key(4), 'b/c.txt', 1],
      [gone, 'gone.txt', null],
      [foreign, 'of another model', null],
    ]);
    expect(items.map(({ current }) => current)).toEqual([true, true, true, true, true, false]);
    expect(items[0]).toMatchObject({
      tokens: 3,
      dtype: 'f16',
      state: 'disk',
      hits: 0,
      lastUsedMs: null,
      pinned: false,
    });
  });

  test('pages, search, documents and orders', async () => {
    const { cache, key } = await cacheOf();
    const keys = async (query: Partial<Parameters<CacheService['entries']>[0]>) =>
      (await cache.entries({ ...PAGE, sort: 'document', ...query })).items.map((item) => item.key);
    expect(await keys({ offset: 1, limit: 2 })).toEqual([key(2), key(3)]);
    expect(await keys({ search: 'B/C' })).toEqual([key(4)]);
    expect(await keys({ documentId: '2' })).toEqual([key(3), key(4)]);
    expect(await keys({ descending: true, limit: 1 })).toEqual([key(4)]);
    expect(await cache.entries({ ...PAGE, sort: 'document', offset: 100 })).toEqual({ total: 4, items: [] });
  });

  test('hits and use of a chunk are shown once the list is rebuilt', async () => {
    const { cache, store, key } = await cacheOf();
    const lease = await store.acquire(key(2), model);
    lease?.release();
    await store.idle();
    const [first] = (await cache.entries({ ...PAGE, sort: 'hits', descending: true })).items;
    expect(first).toMatchObject({ key: key(2), hits: 1, state: 'ram' });
    expect(first?.lastUsedMs).toBeGreaterThan(0);
  });

  test('an answer that only used what was in memory is seen: uses have changed', async () => {
    const { cache, store, key, seen, events } = await cacheOf();
    (await store.acquire(key(2), model))?.release();
    await store.idle();
    events.emit('queue.status', QUEUE);
    await cache.entries({ ...PAGE, sort: 'document' });
    seen.length = 0;
    (await store.acquire(key(2), model))?.release();
    events.emit('queue.status', QUEUE);
    await expect
      .poll(() => seen.some(({ topic }) => topic === 'cache.changed'), { timeout: 5000 })
      .toBe(true);
    const { items } = await cache.entries({ ...PAGE, sort: 'hits', descending: true });
    expect(items[0]).toMatchObject({ key: key(2), hits: 2 });
  });

  test('documents: a chunk that occurs in two of them counts in both', async () => {
    const { cache } = await cacheOf();
    const { total, items } = await cache.documents({ ...PAGE, sort: 'chunks', descending: true });
    expect(total).toBe(2);
    expect(
      items.map(({ document, chunks, documentId, libraryId }) => [document, chunks, documentId, libraryId]),
    ).toEqual([
      ['a.txt', 3, '1', '1'],
      ['b/c.txt', 2, '2', '1'],
    ]);
    expect((await cache.documents({ ...PAGE, sort: 'document', search: 'nothing' })).total).toBe(0);
  });

  test('a deleted document leaves its chunks under their label', async () => {
    const { cache, catalogue } = await cacheOf();
    await cache.entries({ ...PAGE, sort: 'document' });
    catalogue.documents.remove(2);
    await cache.pin({ all: true }, false); // rebuilds the list
    const { items } = await cache.documents({ ...PAGE, sort: 'document' });
    expect(items.map(({ document, documentId }) => [document, documentId])).toEqual([
      ['a.txt', '1'],
      ['label 4', null],
    ]);
  });
});

describe('pins and eviction', () => {
  test('by document, by key, of other models, of all; what is pinned stays', async () => {
    const { cache, store, key, seen } = await cacheOf();
    await put(store, other, 1);
    expect(await cache.pin({ keys: [key(1), 'unknown'] }, true)).toEqual({ chunks: 1 });
    expect((await cache.stats()).pinnedChunks).toBe(1);
    expect(await cache.evict({ otherModels: true })).toMatchObject({ chunks: 1 });
    expect(await cache.evict({ documentIds: ['2'] })).toMatchObject({ chunks: 2 });
    expect(await cache.evict({ keys: [key(1)] })).toEqual({ chunks: 0, bytes: 0, kept: 1 });
    expect(await cache.evict({ all: true })).toMatchObject({ chunks: 1 });
    expect(store.list().map((entry) => entry.key)).toEqual([key(1)]);
    expect(await cache.pin({ documentIds: ['1'] }, false)).toEqual({ chunks: 1 });
    expect((await cache.evict({ documentIds: ['1'] })).bytes).toBeGreaterThan(0);
    expect(seen.filter(({ topic }) => topic === 'cache.changed').length).toBeGreaterThan(5);
  });
});

describe('statistics', () => {
  test('what there is, what another format would take, and what belongs to other models', async () => {
    const { cache, store } = await cacheOf();
    await put(store, other, 7);
    const stats = await cache.stats();
    expect(stats).toMatchObject({
      chunks: 5,
      otherModelChunks: 1,
      formats: [
        { dtype: 'f16', bytes: 15 * 64, offered: true },
        { dtype: 'q8_0', bytes: 15 * 34, offered: true },
        { dtype: 'k8v4', bytes: 15 * 26.5, offered: false },
        { dtype: 'q4', bytes: 15 * 19, offered: false },
      ],
    });
    expect(stats.diskBytes).toBe(store.stats().bytes);
    expect(stats.otherModelBytes).toBeLessThan(stats.diskBytes);
    expect(stats.diskFreeBytes).toBeGreaterThan(0);
  });

  test('hits are counted on from run to run', async () => {
    const { cache, store, catalogue, key } = await cacheOf();
    catalogue.setState('cache-hits', JSON.stringify({ ram: 5, disk: 6, misses: 7 }));
    const next = new CacheService({
      ...{ store, catalogue, dir: tempDir(), events: new EventBus(), log: silentLogger },
      settings: new SettingsService(join(tempDir(), 's.json')),
      models: {
        active: undefined,
        current: () => Promise.reject(new Error()),
        onChange: () => () => undefined,
      },
      known: { get: () => expect.fail(), chunkTokens: () => expect.fail() },
      formats: { lossIn: () => undefined, offers: () => false },
    });
    (await store.acquire(key(1), model))?.release();
    await store.acquire('0'.repeat(64), model);
    expect(await next.stats()).toMatchObject({
      ramHits: 5,
      diskHits: 7,
      misses: 8,
      formats: KV_DTYPES.map((dtype) => ({ dtype, bytes: 0, offered: false })),
    });
    next.close();
    expect(JSON.parse(catalogue.state('cache-hits') ?? '')).toEqual({ ram: 5, disk: 7, misses: 8 });
    expect((await cache.stats()).diskHits).toBe(1);
  });

  test('lower budgets take effect immediately', async () => {
    const { cache, store, settings, seen } = await cacheOf();
    const before = (await cache.stats()).diskBytes;
    settings.update({ diskBudgetBytes: Math.floor(before / 2), memoryBudgetBytes: 0 });
    await expect.poll(() => store.stats().bytes).toBeLessThanOrEqual(before / 2);
    expect(await cache.stats()).toMatchObject({
      chunks: 2,
      ramBudgetBytes: 0,
      diskBudgetBytes: Math.floor(before / 2),
    });
    await expect.poll(() => seen.some(({ topic }) => topic === 'cache.changed')).toBe(true);
  });

  test('a disk budget is proposed from the free space until somebody sets one', async () => {
    const disk = { total: 500e9, free: 100e9 };
    const { cache, store, settings } = await cacheOf(undefined, {
      fs: { ...nodeFs, space: async () => (disk.total > 0 ? { ...disk } : undefined) },
    });
    const used = store.stats().bytes;
    disk.free -= used;
    expect(await cache.stats()).toMatchObject({
      diskFreeBytes: 100e9 - used,
      proposal: { bytes: 25e9 },
    });
    disk.free = 1e9;
    expect((await cache.stats()).proposal).toEqual({ obstacle: 'small-disk' });
    disk.total = 0;
    expect(await cache.stats()).toMatchObject({
      diskFreeBytes: null,
      proposal: { obstacle: 'unknown-space' },
    });
    settings.update({ diskBudgetBytes: 3e9 });
    expect(await cache.stats()).toMatchObject({ diskBudgetBytes: 3e9, proposal: null });
    settings.update({ diskBudgetBytes: null });
    expect(await cache.stats()).toMatchObject({
      diskBudgetBytes: DEFAULT_DISK_BUDGET,
      proposal: { obstacle: 'unknown-space' },
    });
  });

  test('what is kept in the memory of the model’s device, and how much may be', async () => {
    const { cache, settings, seen, events, device, models, active, key } = await cacheOf();
    expect((await cache.stats()).device).toBeNull();
    device.tier = { bytes: 300, limitBytes: 900, totalBytes: 8000, chunks: 1 };
    device.there.add(key(2));
    expect((await cache.stats()).device).toEqual({
      ...{ bytes: 300, budgetBytes: 900, automatic: true, totalBytes: 8000, chunks: 1 },
    });
    const { items } = await cache.entries({ ...PAGE, sort: 'document' });
    expect(items.map(({ state }) => state)).toEqual(['disk', 'device', 'disk', 'disk']);
    models.active = undefined; // the list is the same, the model is gone
    const later = await cache.entries({ ...PAGE, sort: 'document' });
    expect(later.items.map(({ state }) => state)).toEqual(['disk', 'disk', 'disk', 'disk']);
    models.active = active;
    events.emit('queue.status', QUEUE);
    await expect.poll(() => seen.some(({ topic }) => topic === 'cache.changed')).toBe(true);

    settings.update({ deviceBudgetBytes: 0 });
    settings.update({ deviceBudgetBytes: null });
    settings.update({ diskBudgetBytes: 5_000_000_000 });
    expect(device.budgets).toEqual([0, undefined]);
    settings.update({ deviceBudgetBytes: 500 });
    expect((await cache.stats()).device).toMatchObject({ budgetBytes: 500, automatic: false });
  });

  test('the effect of a model that nothing is chunked for yet', async () => {
    const { cache } = await cacheOf();
    expect(cache.impact('n')).toEqual({
      chunks: 3, // five of three tokens are as much as three of six
      cachedChunks: 0,
      tokensToCompute: 15,
      bytesToStore: 15 * 2 * 32 * 2,
      secondsEstimate: 7.5,
    });
  });
});

test('verify sets damaged files aside, reports progress, and counts what is gone', async () => {
  const { cache, dir, key, seen } = await cacheOf();
  writeFileSync(chunkPath(dir, key(1)), 'damaged');
  rmSync(chunkPath(dir, key(2)));
  const result = await cache.verify();
  expect(result).toMatchObject({ checked: 4, missing: [key(2)], newerFormat: [] });
  expect(result.corrupt.map((entry) => entry.key)).toEqual([key(1)]);
  expect(seen.find(({ topic }) => topic === 'cache.progress')).toMatchObject({ payload: { total: 4 } });
  expect((await cache.entries({ ...PAGE, sort: 'document' })).total).toBe(2);
});

test('all that was computed with a model can be deleted, pinned or not; that of another stays', async () => {
  const { cache, store, key } = await cacheOf();
  const others = await put(store, other, 9);
  store.pin(key(1));
  expect(await cache.forgetModel(model.fingerprint)).toBe(true);
  expect(store.list().map(({ key }) => key)).toEqual([others]);
});
