import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { EventPayload, KvasirEvent } from '../../src-shared/contract/events.ts';
import type { DeviceTier, KvDtype, Model } from '../engine/engine.ts';
import type { ChunkStore } from '../kvstore/store.ts';
import { FakeModel, chunkPath, openTestStore, tempDir } from '../testing/store.ts';
import { Catalogue } from '../catalogue/catalogue.ts';
import { MIGRATIONS } from '../catalogue/schema.ts';
import type { ActiveModel } from '../models/active-model.ts';
import type { ModelRow } from '../models/registry.ts';
import { openDatabase } from '../platform/database.ts';
import { EventBus } from '../platform/event-bus.ts';
import { silentLogger } from '../platform/logger.ts';
import { packTokens } from '../platform/token-bytes.ts';
import { SettingsService } from '../platform/settings-service.ts';
import { CacheService } from './cache-service.ts';

const model = new FakeModel();
const other = new FakeModel('e'.repeat(64));

/** The queue has nothing to do. */
const QUEUE: EventPayload<'queue.status'> = {
  ...{ paused: false, waiting: 0, active: 0, failed: 0, done: 1, total: 1 },
  ...{ current: null, tokensDone: 0, tokensTotal: 0, tokensPerSecond: 0, secondsLeft: null, blocked: null },
};

/** Tokens of the chunk that the stand-in model calls `id`. */
const tokensOf = (id: number): Buffer => packTokens(Int32Array.of(id, -id, 7));

/** A catalogue of documents and the chunks in them; every chunk is stored. */
function catalogueOf(path: string, documents: Record<string, number[]>): Catalogue {
  const database = openDatabase(path, MIGRATIONS);
  const prefix = packTokens(model.prefix);
  database.exec(
    "INSERT INTO library (id, name) VALUES (1, 'L'); INSERT INTO root (id, library_id, kind, path) VALUES (1, 1, 'folder', '/l')",
  );
  database.run(
    'INSERT INTO chunk_set (id, library_id, fingerprint, chunk_tokens, prefix) VALUES (1, 1, ?, 3, ?)',
    model.fingerprint,
    prefix,
  );
  const addDocument = `INSERT INTO document (library_id, root_id, path, title, format, sha256, mtime_ms, bytes, seen_ms, phase)
     VALUES (1, 1, ?, ?, 'txt', '', 0, 0, 0, 'ready') RETURNING id`;
  const addChunk = `INSERT INTO chunk (chunk_set_id, document_id, ordinal, char_start, char_end, title, text, tokens)
     VALUES (1, ?, ?, 0, 0, '', '', ?)`;
  const addCut =
    "INSERT INTO chunking (chunk_set_id, document_id, sha256, chunks, tokens) VALUES (1, ?, '', ?, ?)";
  for (const [name, ids] of Object.entries(documents)) {
    const document = database.value<number>(addDocument, name, name);
    ids.forEach((id, ordinal) => database.run(addChunk, document, ordinal, tokensOf(id)));
    database.run(addCut, document, ids.length, ids.length * 3);
  }
  database.close();
  return Catalogue.open(path);
}

async function put(store: ChunkStore, by: FakeModel, id: number, label = `label ${id}`): Promise<string> {
  const { key, chunk } = by.encode(id);
  await store.put(key, chunk, { label });
  chunk.dispose();
  return key;
}

async function kvasir(documents: Record<string, number[]> = { 'a.txt': [1, 2, 3], 'b/c.txt': [3, 4] }) {
  const dir = tempDir();
  const store = await openTestStore({ dir, ramBudgetBytes: 1e6 });
  const catalogue = catalogueOf(join(dir, 'catalogue.sqlite'), documents);
  const keys = new Map<number, string>();
  for (const id of new Set(Object.values(documents).flat())) keys.set(id, await put(store, model, id));
  const events = new EventBus();
  const seen: KvasirEvent[] = [];
  events.on((event) => seen.push(event));
  const device = { tier: null as DeviceTier | null, there: new Set<string>(), budgets: [] as unknown[] };
  const loaded = {
    info: { fingerprint: model.fingerprint },
    bytesPerToken: (dtype: KvDtype) => (dtype === 'f16' ? 64 : 34),
    onDevice: (key: string) => device.there.has(key),
    deviceTier: () => device.tier,
    setDeviceBudget: (bytes: number | undefined) => device.budgets.push(bytes),
  };
  const active: ActiveModel = {
    ...{ id: 'm', name: 'M', path: '', chunkTokens: 3 },
    model: loaded as unknown as Model,
  };
  const settings = new SettingsService(join(dir, 'settings.json'));
  const row = {
    id: 'n',
    fingerprint: null,
    tokensPerSecond: 2,
    header: { kvValuesPerToken: 64 },
  } as ModelRow;
  const models = {
    active: active as ActiveModel | undefined,
    current: async () => active,
    plan: () => ({ row, chunkTokens: 6 }),
  };
  const cache = new CacheService({
    ...{ store, dir, catalogue, settings, events, log: silentLogger },
    models,
  });
  onTestFinished(() => {
    cache.close();
    catalogue.close();
  });
  const key = (id: number): string => keys.get(id)!;
  return { cache, store, catalogue, settings, seen, events, dir, device, models, active, key };
}

const PAGE = { offset: 0, limit: 10, search: '', descending: false } as const;

describe('lists', () => {
  test('chunks by document and place; text that stands twice is one entry', async () => {
    const { cache, store, key } = await kvasir();
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
    const { cache, key } = await kvasir();
    const keys = async (query: Partial<Parameters<CacheService['entries']>[0]>) =>
      (await cache.entries({ ...PAGE, sort: 'document', ...query })).items.map((item) => item.key);
    expect(await keys({ offset: 1, limit: 2 })).toEqual([key(2), key(3)]);
    expect(await keys({ search: 'B/C' })).toEqual([key(4)]);
    expect(await keys({ documentId: '2' })).toEqual([key(3), key(4)]);
    expect(await keys({ descending: true, limit: 1 })).toEqual([key(4)]);
    expect(await cache.entries({ ...PAGE, sort: 'document', offset: 100 })).toEqual({ total: 4, items: [] });
  });

  test('hits and use of a chunk are shown once the list is made anew', async () => {
    const { cache, store, key } = await kvasir();
    const lease = await store.acquire(key(2), model);
    lease?.release();
    await store.idle();
    const [first] = (await cache.entries({ ...PAGE, sort: 'hits', descending: true })).items;
    expect(first).toMatchObject({ key: key(2), hits: 1, state: 'ram' });
    expect(first?.lastUsedMs).toBeGreaterThan(0);
  });

  test('an answer that only used what was in memory is seen: uses have changed', async () => {
    const { cache, store, key, seen, events } = await kvasir();
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

  test('documents: what stands in two of them counts in both', async () => {
    const { cache } = await kvasir();
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
    const { cache, catalogue } = await kvasir();
    await cache.entries({ ...PAGE, sort: 'document' });
    catalogue.documents.remove(2);
    await cache.pin({ all: true }, false); // makes the list anew
    const { items } = await cache.documents({ ...PAGE, sort: 'document' });
    expect(items.map(({ document, documentId }) => [document, documentId])).toEqual([
      ['a.txt', '1'],
      ['label 4', null],
    ]);
  });
});

describe('pins and eviction', () => {
  test('by document, by key, of other models, of all; what is pinned stays', async () => {
    const { cache, store, key, seen } = await kvasir();
    await put(store, other, 1);
    expect(await cache.pin({ keys: [key(1), 'unknown'] }, true)).toEqual({ chunks: 1 });
    expect((await cache.stats()).pinnedChunks).toBe(1);
    expect(await cache.evict({ otherModels: true })).toMatchObject({ chunks: 1 });
    expect(await cache.evict({ documentIds: ['2'] })).toMatchObject({ chunks: 2 });
    expect(await cache.evict({ keys: [key(1)] })).toEqual({ chunks: 0, bytes: 0 });
    expect(await cache.evict({ all: true })).toMatchObject({ chunks: 1 });
    expect(store.list().map((entry) => entry.key)).toEqual([key(1)]);
    expect(await cache.pin({ documentIds: ['1'] }, false)).toEqual({ chunks: 1 });
    expect((await cache.evict({ documentIds: ['1'] })).bytes).toBeGreaterThan(0);
    expect(seen.filter(({ topic }) => topic === 'cache.changed').length).toBeGreaterThan(5);
  });
});

describe('statistics', () => {
  test('what there is, what another format would take, and what belongs to other models', async () => {
    const { cache, store } = await kvasir();
    await put(store, other, 7);
    const stats = await cache.stats();
    expect(stats).toMatchObject({
      chunks: 5,
      otherModelChunks: 1,
      bytesByDtype: { f16: 15 * 64, q8_0: 15 * 34 },
    });
    expect(stats.diskBytes).toBe(store.stats().bytes);
    expect(stats.otherModelBytes).toBeLessThan(stats.diskBytes);
    expect(stats.diskFreeBytes).toBeGreaterThan(0);
  });

  test('hits are counted on from run to run', async () => {
    const { cache, store, catalogue, key } = await kvasir();
    catalogue.setState('cache-hits', JSON.stringify({ ram: 5, disk: 6, misses: 7 }));
    const next = new CacheService({
      ...{ store, catalogue, dir: tempDir(), events: new EventBus(), log: silentLogger },
      settings: new SettingsService(join(tempDir(), 's.json')),
      models: { active: undefined, current: () => Promise.reject(new Error()), plan: () => expect.fail() },
    });
    (await store.acquire(key(1), model))?.release();
    await store.acquire('0'.repeat(64), model);
    expect(await next.stats()).toMatchObject({
      ramHits: 5,
      diskHits: 7,
      misses: 8,
      bytesByDtype: { f16: 0, q8_0: 0 },
    });
    next.close();
    expect(JSON.parse(catalogue.state('cache-hits') ?? '')).toEqual({ ram: 5, disk: 7, misses: 8 });
    expect((await cache.stats()).diskHits).toBe(1);
  });

  test('lower budgets take effect at once', async () => {
    const { cache, store, settings, seen } = await kvasir();
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

  test('what is kept in the memory of the model’s device, and how much may be', async () => {
    const { cache, settings, seen, events, device, models, active, key } = await kvasir();
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

  test('what a model nothing is cut for yet would mean', async () => {
    const { cache } = await kvasir();
    expect(cache.impact('n')).toEqual({
      chunks: 3, // five of three tokens are as much as three of six
      cachedChunks: 0,
      tokensToCompute: 15,
      bytesToStore: 15 * 2 * 32 * 2,
      secondsEstimate: 7.5,
    });
  });
});

test('verify sets damaged files aside, tells how far it is, and counts what is gone', async () => {
  const { cache, dir, key, seen } = await kvasir();
  writeFileSync(chunkPath(dir, key(1)), 'damaged');
  rmSync(chunkPath(dir, key(2)));
  const result = await cache.verify();
  expect(result).toMatchObject({ checked: 4, missing: 1, newerFormat: 0 });
  expect(result.corrupt.map((entry) => entry.key)).toEqual([key(1)]);
  expect(seen.find(({ topic }) => topic === 'cache.progress')).toMatchObject({ payload: { total: 4 } });
  expect((await cache.entries({ ...PAGE, sort: 'document' })).total).toBe(2);
});

test('all that was computed with a model can be deleted, pinned or not; that of another stays', async () => {
  const { cache, store, key } = await kvasir();
  const others = await put(store, other, 9);
  store.pin(key(1));
  expect(await cache.forgetModel(model.fingerprint)).toBe(true);
  expect(store.list().map(({ key }) => key)).toEqual([others]);
});
